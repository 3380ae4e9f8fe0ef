#include "workloads/internal/deployments/deployment_controller.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"
#include "workloads/internal/deployments/app_types.h"
#include "workloads/internal/deployments/rollout_set.h"
#include "workloads/internal/pods/gathered_changes.h"

namespace muster::workloads {

namespace {

constexpr int kDeploymentsAtATime = 4;

const json::object& template_of(const json::object& object) {
    return kube::child(kube::child(object, "spec"), "template");
}

}  // namespace

DeploymentController::DeploymentController(kube::Client& client, Clock& clock, Rng& rng,
                                           TaskGroup& tasks, ReplicaSetTable& sets, PodTable& pods)
    : client_(client),
      clock_(clock),
      sets_(sets),
      pods_(pods),
      events_(client, clock, rng, tasks, "deployment-controller"),
      deployments_(client, clock, rng, kDeployments, {},
                   [](const json::value&) -> std::optional<Known> { return Known{}; }),
      controller_(clock, tasks, [this](std::string key) { return reconcile(std::move(key)); }) {
    deployments_.on_change(
        [this](const std::string& key, const Known*, const Known*) { controller_.add(key); });
    sets.on_change([this](const ReplicaSetTable::Record& record) {
        if (!record.deployment.empty())
            controller_.add(kube::NamespacedName{record.name.namespace_, record.deployment}.text());
    });
}

void DeploymentController::pod_changed(const kube::NamespacedName& set, std::size_t pods) {
    const std::string deployment = sets_.deployment_of(set);
    if (!deployment.empty())
        add_gathered(controller_, clock_, kube::NamespacedName{set.namespace_, deployment}.text(),
                     pods);
}

void DeploymentController::start() { controller_.start(kDeploymentsAtATime); }

Task<bool> DeploymentController::reconcile(std::string key) {
    co_await pods_.ready();
    const kube::NamespacedName name = name_of_key(key);
    auto got = co_await client_.get(kDeployments, name.namespace_, name.name);
    if (!got) {
        controller_.set_deadline(key, std::nullopt);
        co_return got.error().code() == Code::kNotFound;
    }
    json::object deployment = kube::copy_of((*got)->get_object());
    auto sets = co_await read_sets(name, std::string(kube::uid_of(deployment)));
    if (!sets) co_return false;
    DeploymentFacts facts{deployment, *std::move(sets), {}};
    for (const json::object& set : facts.sets) {
        std::int64_t running = 0;
        for (const PodPtr& pod : pods_.of(kReplicaSets.kind, kube::namespaced_name_of(set)).pods)
            running += pod->ended() ? 0 : 1;
        facts.running.emplace(kube::name_of(set), running);
    }
    DeploymentPlan plan = plan_deployment(std::move(facts), clock_.wall_now());
    controller_.set_deadline(key, plan.again);
    co_return co_await carry_out(std::move(deployment), std::move(plan));
}

/// The ReplicaSets that it controls, as they are now; nullopt if one can't be read.
Task<std::optional<std::vector<json::object>>> DeploymentController::read_sets(
    kube::NamespacedName name, std::string uid) {
    std::vector<json::object> sets;
    for (std::string& set : sets_.of_deployment(name)) {
        const auto got = co_await client_.get(kReplicaSets, name.namespace_, std::move(set));
        if (!got && got.error().code() == Code::kNotFound) continue;
        if (!got) co_return std::nullopt;
        const json::object& object = (*got)->get_object();
        if (is_controlled_by(object, uid)) sets.push_back(kube::copy_of(object));
    }
    co_return sets;
}

Task<bool> DeploymentController::carry_out(json::object deployment, DeploymentPlan plan) {
    const Owner owner = owner_of(kDeployments, deployment);
    if (!co_await change_sets(owner, plan)) co_return false;
    bool complete = true;
    if (plan.create) complete = co_await make_set(deployment, plan);
    if (!plan.create || complete) tell_scaled(owner, plan);
    // Before the revision, which makes the Deployment we know an old one.
    const bool written = co_await write_status(deployment, std::move(plan.status));
    if (!plan.revision.empty())
        complete &= co_await write_revision(owner, std::move(plan.revision));
    co_return complete&& written;
}

void DeploymentController::tell_scaled(const Owner& owner, const DeploymentPlan& plan) {
    for (const std::string& message : plan.scaled)
        events_.record(owner.reference(), kube::EventType::kNormal, "ScalingReplicaSet", message);
}

Task<bool> DeploymentController::change_sets(const Owner& owner, DeploymentPlan& plan) {
    for (json::object& set : plan.update) {
        const std::string name(kube::name_of(set));
        const auto written =
            co_await client_.update(kReplicaSets, owner.name.namespace_, name, std::move(set));
        if (!written) co_return false;
    }
    for (const std::string& name : plan.remove) {
        kube::DeleteOptions options;
        options.propagation = kube::Propagation::kBackground;
        const auto removed =
            co_await client_.remove(kReplicaSets, owner.name.namespace_, name, std::move(options));
        if (!removed && removed.error().code() != Code::kNotFound) co_return false;
    }
    co_return true;
}

/// False: it is not there. What follows from that is in the plan's status.
Task<bool> DeploymentController::make_set(const json::object& deployment, DeploymentPlan& plan) {
    const Owner owner = owner_of(kDeployments, deployment);
    const std::string name(kube::name_of(*plan.create));
    const auto made =
        co_await client_.create(kReplicaSets, owner.name.namespace_, *std::move(plan.create));
    if (made) co_return true;
    if (made.error().code() != Code::kAlreadyExists) {
        const std::string message = fmt::format("Failed to create new replica set \"{}\": {}", name,
                                                made.error().message());
        note_failed_creation(plan.status, message, clock_.wall_now());
        events_.record(owner.reference(), kube::EventType::kWarning, "ReplicaSetCreateError",
                       message);
        co_return false;
    }
    const auto got = co_await client_.get(kReplicaSets, owner.name.namespace_, name);
    if (!got) co_return false;
    const json::object& there = (*got)->get_object();
    // The watch has not shown it yet; or another template has the same hash.
    if (!is_controlled_by(there, owner.uid) ||
        !same_template(template_of(there), template_of(deployment)))
        plan.status["collisionCount"] = kube::int_at(plan.status, "collisionCount").value_or(0) + 1;
    co_return false;
}

Task<bool> DeploymentController::write_revision(Owner owner, std::string revision) {
    const json::value patch{
        {"metadata", {{"uid", owner.uid}, {"annotations", {{kRevisionKey, revision}}}}}};
    const auto written =
        co_await client_.patch(kDeployments, owner.name.namespace_, owner.name.name,
                               kube::ContentType::kMergePatch, patch);
    co_return written || written.error().code() == Code::kNotFound;
}

Task<bool> DeploymentController::write_status(json::object& deployment, json::object status) {
    if (kube::equal(kube::child(deployment, "status"), status)) co_return true;
    const kube::NamespacedName name = kube::namespaced_name_of(deployment);
    deployment["status"] = std::move(status);
    const auto written = co_await client_.update(kDeployments, name.namespace_, name.name,
                                                 std::move(deployment), "status");
    if (written || written.error().code() == Code::kNotFound) co_return true;
    if (written.error().code() != Code::kConflict)
        log::warning("the status of a Deployment can't be written",
                     {{"deployment", name.text()}, {"error", written.error().message()}});
    co_return false;
}

}  // namespace muster::workloads
