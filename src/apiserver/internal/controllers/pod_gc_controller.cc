#include "apiserver/internal/controllers/pod_gc_controller.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

const std::string kPods = "pods";
const std::string kNodes = "nodes";

}  // namespace

std::optional<WallTime> may_go_without_its_node(const json::object& pod, bool node_exists) {
    const json::object* spec = object_at(pod, "spec");
    if (node_exists || !is_deleting(pod) || spec == nullptr || string_at(*spec, "nodeName").empty())
        return std::nullopt;
    const json::object& meta = metadata_of(pod);
    // Without a grace period left only finalizers keep it, and those are not ours.
    if (int_at(meta, "deletionGracePeriodSeconds").value_or(0) == 0) return std::nullopt;
    return kube::parse_time(string_at(meta, "deletionTimestamp")).value_or(WallTime());
}

PodGCController::PodGCController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("pod collector", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }) {}

bool PodGCController::node_exists(const std::string& name) const {
    const WatchCache::Objects& nodes = state_.cache.objects(kNodes);
    return nodes.empty() || nodes.contains({"", name});
}

void PodGCController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (change.key.resource == kNodes) {
        if (change.object == nullptr) requeue_pods_of(change.key.name);
        return;
    }
    if (change.key.resource != kPods || change.object == nullptr) return;
    const json::object& pod = change.object->get_object();
    if (!is_deleting(pod)) return;
    const json::object* spec = object_at(pod, "spec");
    const std::string node(spec == nullptr ? "" : string_at(*spec, "nodeName"));
    if (may_go_without_its_node(pod, node_exists(node)))
        queue_.add({change.key.namespace_, change.key.name});
}

void PodGCController::recover(const StartingObject& object) {
    if (object.owned_or_deleting && object.key.resource == kPods &&
        is_deleting(*object.cached.object))
        queue_.add({object.key.namespace_, object.key.name});
}

void PodGCController::requeue_pods_of(const std::string& node) {
    for (const auto& [key, pod] : state_.cache.objects(kPods))
        if (is_deleting(*pod.object) && string_at_path(pod.object->text(), "spec.nodeName") == node)
            queue_.add(key);
}

Task<StatusResult<void>> PodGCController::reconcile(NamespacedName key) {
    const CachedObject* found = state_.cache.find(kPods, key.namespace_, key.name);
    if (found == nullptr) co_return StatusResult<void>();
    const std::string node = string_at_path(found->object->text(), "spec.nodeName");
    const auto when = may_go_without_its_node(found->tree()->get_object(), node_exists(node));
    if (!when) co_return StatusResult<void>();
    if (*when > state_.clock.wall_now()) {
        queue_.add_at(std::move(key), *when);
        co_return StatusResult<void>();
    }
    log::warning("a pod is removed, as its node does not exist and its time to end is over",
                 {{"namespace", key.namespace_}, {"pod", key.name}, {"node", node}});
    Target target;
    target.def = state_.registry.find("v1", kPods);
    target.namespace_ = key.namespace_;
    target.name = key.name;
    DeleteQuery query;
    query.precondition_uid = uid_of(*found->object);
    query.grace_period_seconds = 0;
    co_return done_unless(co_await writer_.remove(std::move(target), std::move(query)),
                          {Code::kNotFound, Code::kConflict});
}

}  // namespace muster::apiserver
