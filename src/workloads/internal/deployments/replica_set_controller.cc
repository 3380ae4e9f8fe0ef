#include "workloads/internal/deployments/replica_set_controller.h"

#include <fmt/format.h>

#include <utility>

#include "kube/values/text_size.h"
#include "workloads/internal/deployments/app_types.h"
#include "workloads/internal/pods/gathered_changes.h"
#include "workloads/internal/pods/status_write.h"

namespace muster::workloads {

namespace {

constexpr int kSetsAtATime = 4;

}  // namespace

ReplicaSetController::ReplicaSetController(kube::Client& client, Clock& clock, Rng& rng,
                                           TaskGroup& tasks, ReplicaSetTable& sets, PodTable& pods,
                                           SideThread* side_thread)
    : client_(client),
      clock_(clock),
      side_thread_(side_thread),
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
    const json::object& set = (*got)->get_object();
    PodTable::Seen seen = pods_.of(kReplicaSets.kind, name);
    std::erase_if(seen.pods,
                  [&](const PodPtr& pod) { return pod->owner_uid != kube::uid_of(set); });
    if (!seen.complete) controller_.requeue_at(key, clock_.now() + PodTable::kLongestLag);
    const std::string failure = co_await change_pods(*got, plan_replicas(set, seen.pods));
    ReplicaSetStatus made = replica_set_status(set, seen.pods, failure, clock_.wall_now());
    controller_.set_deadline(key, made.again);
    const bool written = co_await write_status(client_, kReplicaSets, *got, std::move(made.status));
    co_return written&& failure.empty();
}

/// Why a change failed; empty: none did. Ends with the first pod that can't be made: the next ones
/// would be refused, too.
Task<std::string> ReplicaSetController::change_pods(kube::ObjectPtr set, ReplicaChange change) {
    const Owner owner = owner_of(kReplicaSets, set->get_object());
    const std::size_t bytes = change.make > 0 ? kube::text_size(*set, kWorthSideThread) : 0;
    for (std::int64_t made = 0; made < change.make; ++made) {
        json::object pod = co_await compute_beside(side_thread_, "make a pod", bytes, [set, owner] {
            return from_template(kube::child(kube::child(set->get_object(), "spec"), "template"),
                                 owner);
        });
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

}  // namespace muster::workloads
