#include "runtime/internal/scheduling/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/parse_number.h"
#include "base/time/restarting_task.h"
#include "kube/objects/codec.h"
#include "kube/objects/pod_contract.h"
#include "kube/objects/pod_requests.h"
#include "kube/values/time.h"

namespace muster::runtime {

namespace {

/// After a binding that failed.
constexpr Duration kBindingRetry = std::chrono::seconds(5);

const kube::PodCondition* find_scheduled(const std::vector<kube::PodCondition>& conditions) {
    auto it = std::ranges::find(conditions, "PodScheduled", &kube::PodCondition::type);
    return it == conditions.end() ? nullptr : &*it;
}

std::string annotation(const kube::Pod& pod, std::string_view name) {
    const auto found = pod.metadata.annotations.find(std::string(name));
    return found == pod.metadata.annotations.end() ? std::string() : found->second;
}

std::size_t gang_size_of(const kube::Pod& pod) {
    return leading_number<std::size_t>(annotation(pod, kube::kGangSizeAnnotation)).value_or(1);
}

/// The controller that set the gates removes them when the pod may start.
bool is_gated(const kube::Pod& pod) {
    const json::value* gates = pod.spec.rest.if_contains("schedulingGates");
    return gates != nullptr && gates->is_array() && !gates->get_array().empty();
}

/// The job's pods of one group restart. Empty for pods that start alone.
std::string gang_of(const kube::Pod& pod) {
    const kube::OwnerReference* owner = pod.metadata.controller();
    if (owner == nullptr || gang_size_of(pod) <= 1) return {};
    return owner->uid + "/" + annotation(pod, kube::kGenerationAnnotation);
}

}  // namespace

Scheduler::Scheduler(kube::Client& client, Clock& clock, TaskGroup& tasks,
                     kube::EventRecorder& events, std::string node_name, SchedulingNode node)
    : client_(client),
      clock_(clock),
      tasks_(tasks),
      events_(events),
      node_name_(std::move(node_name)),
      node_(std::move(node)) {}

Scheduler::Known Scheduler::read(const kube::Pod& pod) const {
    Known known;
    known.reference.api_version = "v1";
    known.reference.kind = "Pod";
    known.reference.namespace_ = pod.metadata.namespace_;
    known.reference.name = pod.metadata.name;
    known.reference.uid = pod.metadata.uid;
    const kube::OwnerReference* owner = pod.metadata.controller();
    known.pod.key = pod.metadata.namespaced_name().text();
    known.pod.job = owner == nullptr ? "pod " + known.pod.key : owner->kind + " " + owner->name;
    known.pod.job_uid = owner == nullptr ? pod.metadata.uid : owner->uid;
    known.pod.created = pod.metadata.creation_timestamp;
    known.pod.requests = kube::container_requests(pod.spec);
    known.pod.requests["pods"] = kube::Quantity::from_units(1);
    for (const kube::Container& container : pod.spec.containers)
        for (const kube::ContainerPort& port : container.ports)
            known.pod.ports.insert(port.container_port);
    known.pod.gang = gang_of(pod);
    known.pod.gang_size = gang_size_of(pod);
    return known;
}

void Scheduler::count_in_gang(const kube::Pod& pod, bool exists) {
    const std::string name = gang_of(pod);
    if (name.empty()) return;
    Gang& gang = gangs_[name];
    if (exists) {
        gang.pods.insert(pod.metadata.uid);
        gang.size = std::max(gang.size, gang_size_of(pod));
        gang.admitted |= !pod.spec.node_name.empty();
    } else {
        gang.pods.erase(pod.metadata.uid);
    }
    if (gang.pods.empty()) gangs_.erase(name);
}

bool Scheduler::worth_a_look(const Known& known) const {
    const auto gang = gangs_.find(known.pod.gang);
    return known.deleting || gang == gangs_.end() || gang->second.admitted ||
           gang->second.pods.size() >= gang->second.size;
}

void Scheduler::pod_changed(const kube::Pod* before, const kube::Pod* after) {
    const kube::Pod& pod = after != nullptr ? *after : *before;
    const std::string key = pod.metadata.namespaced_name().text();
    const bool ended = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
    if (before != nullptr && (after == nullptr || before->metadata.uid != after->metadata.uid))
        count_in_gang(*before, false);
    if (after != nullptr) count_in_gang(*after, true);
    if (after == nullptr || ended) {
        if (pods_.erase(key) == 0) return;
    } else {
        Known& known = pods_[key];
        if (known.reference.uid != pod.metadata.uid) known = read(pod);
        const std::string& scheduler = pod.spec.scheduler_name;
        const bool ours = scheduler.empty() || scheduler == "default-scheduler";
        const bool was_pending = known.pending;
        known.conditions = pod.status.conditions;
        known.deleting = pod.metadata.deleting();
        known.pending = pod.spec.node_name.empty() && ours && !is_gated(pod);
        if (!pod.spec.node_name.empty()) known.assigned = false;
        known.pod.bound = pod.spec.node_name == node_name_ || known.assigned;
        // Only a new pod, or one that is to be deleted, needs another look.
        if (was_pending && known.pending && !known.deleting) return;
        if (!was_pending && !known.pending) return;
        if (!worth_a_look(known)) return;
    }
    look_again();
}

void Scheduler::node_changed(bool unschedulable) {
    if (std::exchange(node_known_, true) && node_.unschedulable == unschedulable) return;
    node_.unschedulable = unschedulable;
    look_again();
}

void Scheduler::look_again() {
    if (running_ || !node_known_) return;
    running_ = true;
    spawn_restarting(tasks_, clock_, "scheduler", [this] { return run(); });
}

Task<void> Scheduler::run() {
    running_ = false;
    std::vector<const SchedulingPod*> pods;
    for (auto& [key, known] : pods_) {
        if (known.pending && known.deleting) {
            // No one else will: there is no kubelet for a pod without a node.
            spawn_restarting(tasks_, clock_, "removal",
                             [this, pod = known.reference] { return remove(pod); });
            continue;
        }
        const auto gang = gangs_.find(known.pod.gang);
        known.pod.admitted = gang != gangs_.end() && gang->second.admitted;
        if (known.pending || known.pod.bound) pods.push_back(&known.pod);
    }
    for (Placement& placement : schedule(pods, node_)) {
        Known& known = pods_.at(placement.key);
        if (placement.bind) {
            known.assigned = true;
            known.pod.bound = true;
            if (auto gang = gangs_.find(known.pod.gang); gang != gangs_.end())
                gang->second.admitted = true;
            tasks_.spawn("binding", bind(placement.key, known.reference),
                         [this, key = placement.key, pod = known.reference](
                             const std::string& what) { binding_failed(key, pod, what); });
            continue;
        }
        if (placement.message.empty()) continue;
        const kube::PodCondition* before = find_scheduled(known.conditions);
        if (before != nullptr && before->message == placement.message) continue;
        spawn_restarting(tasks_, clock_, "unschedulable",
                         [this, key = placement.key, pod = known.reference,
                          why = placement.message] { return mark_unschedulable(key, pod, why); });
    }
    co_return;
}

Task<void> Scheduler::bind(std::string key, kube::ObjectReference pod) {
    json::object binding{
        {"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_}, {"uid", pod.uid}}},
        {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node_name_}}}};
    auto bound = co_await client_.create_subresource(kube::types::kPods, pod.namespace_, pod.name,
                                                     "binding", json::value(std::move(binding)));
    if (bound) {
        events_.record(pod, kube::EventType::kNormal, "Scheduled",
                       fmt::format("Successfully assigned {} to {}", key, node_name_));
        co_return;
    }
    const Code code = bound.error().code();
    const bool is_other = code == Code::kNotFound || code == Code::kConflict;
    binding_failed(key, pod, is_other ? std::string() : bound.error().message());
}

/// `why`: for the event; empty if there is to be none.
void Scheduler::binding_failed(const std::string& key, const kube::ObjectReference& pod,
                               const std::string& why) {
    auto it = pods_.find(key);
    if (it != pods_.end() && it->second.reference.uid == pod.uid) {
        it->second.assigned = false;
        it->second.pod.bound = false;
    }
    if (why.empty()) return;
    events_.record(pod, kube::EventType::kWarning, "FailedScheduling", why);
    // Perhaps nothing else changes.
    if (std::exchange(will_look_, true)) return;
    spawn_restarting(tasks_, clock_, "another binding", [this] { return look_later(); });
}

Task<void> Scheduler::look_later() {
    co_await clock_.sleep_for(kBindingRetry);
    will_look_ = false;
    look_again();
}

Task<void> Scheduler::mark_unschedulable(std::string key, kube::ObjectReference pod,
                                         std::string message) {
    auto it = pods_.find(key);
    if (it == pods_.end() || it->second.reference.uid != pod.uid) co_return;
    if (!it->second.pending || it->second.assigned) co_return;
    const kube::PodCondition* before = find_scheduled(it->second.conditions);
    json::object condition{{"type", "PodScheduled"},
                           {"status", "False"},
                           {"reason", "Unschedulable"},
                           {"message", message}};
    condition["lastTransitionTime"] = before != nullptr && before->status == "False"
                                          ? before->last_transition_time
                                          : kube::format_time(clock_.wall_now());
    json::array conditions{std::move(condition)};
    for (const kube::PodCondition& other : it->second.conditions)
        if (other.type != "PodScheduled") conditions.push_back(kube::encode(other));
    json::object patch{{"metadata", {{"uid", pod.uid}}},
                       {"status", {{"phase", "Pending"}, {"conditions", std::move(conditions)}}}};
    auto done = co_await client_.patch(kube::types::kPods, pod.namespace_, pod.name,
                                       kube::ContentType::kMergePatch,
                                       json::value(std::move(patch)), "status");
    if (!done && done.error().code() != Code::kNotFound && !done.error().is_expected())
        log::warning("writing why a pod waits failed",
                     {{"pod", key}, {"error", done.error().message()}});
    events_.record(pod, kube::EventType::kWarning, "FailedScheduling", std::move(message));
}

Task<void> Scheduler::remove(kube::ObjectReference pod) {
    kube::DeleteOptions options;
    options.grace_period_seconds = 0;
    options.precondition_uid = pod.uid;
    auto removed =
        co_await client_.remove(kube::types::kPods, pod.namespace_, pod.name, std::move(options));
    if (!removed && removed.error().code() != Code::kNotFound &&
        removed.error().code() != Code::kConflict)
        log::warning("removing a pod without a node failed",
                     {{"pod", pod.name}, {"error", removed.error().message()}});
}

}  // namespace muster::runtime
