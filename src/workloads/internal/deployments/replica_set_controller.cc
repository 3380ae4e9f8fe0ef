#include "workloads/internal/deployments/replica_set_controller.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"
#include "workloads/internal/deployments/app_types.h"
#include "workloads/internal/pods/gathered_changes.h"

namespace muster::workloads {

namespace {

constexpr int kSetsAtATime = 4;

}  // namespace

ReplicaSetController::ReplicaSetController(kube::Client& client, Clock& clock, Rng& rng,
                                           TaskGroup& tasks, ReplicaSetTable& sets, PodTable& pods)
    : client_(client),
      clock_(clock),
      pods_(pods),
      events_(client, clock, rng, tasks, "replicaset-controller"),
      writer_(client, pods, events_),
      controller_(clock, tasks, [this](std::string key) { return reconcile(std::move(key)); }) {
    sets.on_change(
        [this](const ReplicaSetTable::Record& record) { controller_.add(record.name.text()); });
}

void ReplicaSetController::pod_changed(const kube::NamespacedName& set, std::size_t pods) {
    add_gathered(controller_, clock_, set.text(), pods);
}

void ReplicaSetController::start() { controller_.start(kSetsAtATime); }

Task<bool> ReplicaSetController::reconcile(std::string key) {
    co_await pods_.ready();
    const kube::NamespacedName name = name_of_key(key);
    auto got = co_await client_.get(kReplicaSets, name.namespace_, name.name);
    if (!got) {
        controller_.set_deadline(key, std::nullopt);
        co_return got.error().code() == Code::kNotFound;
    }
    json::object set = kube::copy_of((*got)->get_object());
    PodTable::Seen seen = pods_.of(kReplicaSets.kind, name);
    std::erase_if(seen.pods,
                  [&](const PodPtr& pod) { return pod->owner_uid != kube::uid_of(set); });
    if (!seen.complete) controller_.requeue_at(key, clock_.now() + PodTable::kLongestLag);
    const std::string failure = co_await change_pods(set, plan_replicas(set, seen.pods));
    ReplicaSetStatus made = replica_set_status(set, seen.pods, failure, clock_.wall_now());
    controller_.set_deadline(key, made.again);
    const bool written = co_await write_status(set, std::move(made.status));
    co_return written&& failure.empty();
}

/// Why a change failed; empty: none did. Ends with the first pod that can't be made: the next ones
/// would be refused, too.
Task<std::string> ReplicaSetController::change_pods(const json::object& set, ReplicaChange change) {
    const Owner owner = owner_of(kReplicaSets, set);
    for (std::int64_t made = 0; made < change.make; ++made) {
        json::object pod = from_template(kube::child(kube::child(set, "spec"), "template"), owner);
        pod.at("metadata").get_object()["generateName"] = fmt::format("{}-", owner.name.name);
        const Result<void> done = co_await writer_.make(owner, std::move(pod));
        if (!done) co_return done.error().message();
    }
    std::string failure;
    for (PodPtr& pod : change.remove) {
        const Result<void> done = co_await writer_.remove(owner, std::move(pod));
        if (!done) failure = done.error().message();
    }
    co_return failure;
}

Task<bool> ReplicaSetController::write_status(json::object& set, json::object status) {
    if (kube::equal(kube::child(set, "status"), status)) co_return true;
    const kube::NamespacedName name = kube::namespaced_name_of(set);
    set["status"] = std::move(status);
    const auto written =
        co_await client_.update(kReplicaSets, name.namespace_, name.name, std::move(set), "status");
    if (written || written.error().code() == Code::kNotFound) co_return true;
    if (written.error().code() != Code::kConflict)
        log::warning("the status of a ReplicaSet can't be written",
                     {{"replicaset", name.text()}, {"error", written.error().message()}});
    co_return false;
}

}  // namespace muster::workloads
