#include "workloads/internal/deployments/deployment_controller.h"

#include <fmt/format.h>

#include <utility>

#include "kube/values/document.h"
#include "kube/values/text_size.h"
#include "workloads/internal/deployments/app_types.h"
#include "workloads/internal/deployments/rollout_set.h"
#include "workloads/internal/pods/gathered_changes.h"
#include "workloads/internal/pods/status_write.h"

namespace muster::workloads {

namespace {

constexpr int kDeploymentsAtATime = 4;

const json::object& template_of(const json::object& object) {
    return kube::child(kube::child(object, "spec"), "template");
}

}  // namespace

DeploymentController::DeploymentController(kube::Client& client, Clock& clock, Rng& rng,
                                           TaskGroup& tasks, ReplicaSetTable& sets, PodTable& pods,
                                           SideThread* side_thread)
    : client_(client),
      clock_(clock),
      side_thread_(side_thread),
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
    const kube::ObjectPtr deployment = *std::move(got);
    auto sets = co_await read_sets(name, std::string(kube::uid_of(deployment->get_object())));
    if (!sets) co_return false;
    std::map<std::string, std::int64_t, std::less<>> running;
    std::size_t bytes = kube::text_size(*deployment, kWorthSideThread);
    for (const kube::ObjectPtr& set : *sets) {
        std::int64_t count = 0;
        for (const PodPtr& pod :
             pods_.of(kReplicaSets.kind, kube::namespaced_name_of(set->get_object())).pods)
            count += pod->ended() ? 0 : 1;
        running.emplace(kube::name_of(set->get_object()), count);
        bytes += kube::text_size(*set, kWorthSideThread);
    }
    DeploymentPlan plan = co_await compute_beside(
        side_thread_, "plan a deployment", bytes,
        [deployment, sets = *std::move(sets), running, now = clock_.wall_now()] {
            DeploymentFacts facts{deployment->get_object(), {}, running};
            for (const kube::ObjectPtr& set : sets)
                facts.sets.push_back(kube::copy_of(set->get_object()));
            return plan_deployment(std::move(facts), now);
        });
    controller_.set_deadline(key, plan.again);
    co_return co_await carry_out(deployment, std::move(plan));
}

/// The ReplicaSets that it controls, as they are now; nullopt if one can't be read.
Task<std::optional<std::vector<kube::ObjectPtr>>> DeploymentController::read_sets(
    kube::NamespacedName name, std::string uid) {
    std::vector<kube::ObjectPtr> sets;
    for (std::string& set : sets_.of_deployment(name)) {
        const auto got = co_await client_.get(kReplicaSets, name.namespace_, std::move(set));
        if (!got && got.error().code() == Code::kNotFound) continue;
        if (!got) co_return std::nullopt;
        if (is_controlled_by((*got)->get_object(), uid)) sets.push_back(*got);
    }
    co_return sets;
}

Task<bool> DeploymentController::carry_out(kube::ObjectPtr deployment, DeploymentPlan plan) {
    const Owner owner = owner_of(kDeployments, deployment->get_object());
    if (!co_await change_sets(owner, plan)) co_return false;
    bool complete = true;
    if (plan.create) complete = co_await make_set(deployment, plan);
    if (!plan.create || complete) tell_scaled(owner, plan);
    // Before the revision, which makes the Deployment we know an old one.
    const bool written =
        co_await write_status(client_, kDeployments, deployment, std::move(plan.status));
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
Task<bool> DeploymentController::make_set(kube::ObjectPtr deployment, DeploymentPlan& plan) {
    const Owner owner = owner_of(kDeployments, deployment->get_object());
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
    const kube::ObjectPtr there = *got;
    const bool same =
        co_await compute_beside(side_thread_, "compare templates",
                                kube::text_size(*there, kWorthSideThread), [deployment, there] {
                                    return same_template(template_of(there->get_object()),
                                                         template_of(deployment->get_object()));
                                });
    // The watch has not shown it yet; or another template has the same hash.
    if (!is_controlled_by(there->get_object(), owner.uid) || !same)
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

}  // namespace muster::workloads
