#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "jobs/internal/text.h"
#include "jobs/scale_plan.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"

namespace muster::jobs {
namespace {

/// The part of a manifest about replicas of this type, however its key is spelled; null if it has
/// none.
const json::object* replicas_of(const JobKind& kind, const json::object& manifest,
                                const ReplicaType& type) {
    const json::object& all = kube::child(kube::child(manifest, "spec"), kind.replicas_field);
    if (const json::object* exact = kube::object_at(all, type.name)) return exact;
    for (const auto& [key, value] : all)
        if (lower_case(key) == type.lower()) return value.if_object();
    return nullptr;
}
/// Of a manifest that may be changed.
json::object* replicas_of(const JobKind& kind, json::object& manifest, const ReplicaType& type) {
    return const_cast<json::object*>(replicas_of(kind, std::as_const(manifest), type));
}

/// As upstream sets it: the same request and limit (dlrover/python/master/scaler/pod_scaler.py).
void set_resource(const JobKind& kind, json::object& replicas, const kube::ResourceList& amounts) {
    json::object* pod = kube::object_at(replicas, "template");
    if (pod != nullptr) pod = kube::object_at(*pod, "spec");
    json::array* containers = pod == nullptr ? nullptr : kube::array_at(*pod, "containers");
    if (containers == nullptr || containers->empty()) return;
    json::object* chosen = containers->front().if_object();
    for (json::value& container : *containers)
        if (json::object* fields = container.if_object();
            fields != nullptr && kube::string_at(*fields, "name") == kind.container_name)
            chosen = fields;
    if (chosen == nullptr) return;
    json::object resources = kube::child(*chosen, "resources");
    for (const std::string_view part : {"requests", "limits"}) {
        json::object amounts_of_part = kube::child(resources, part);
        for (const auto& [name, amount] : amounts) amounts_of_part[name] = amount;
        resources[part] = std::move(amounts_of_part);
    }
    (*chosen)["resources"] = std::move(resources);
}

}  // namespace

std::map<std::string, std::int32_t> written_replicas(const JobKind& kind,
                                                     const json::value& manifest) {
    std::map<std::string, std::int32_t> written;
    const json::object* fields = manifest.if_object();
    if (fields == nullptr) return written;
    for (const ReplicaType& type : kind.written_types()) {
        const json::object* replicas = replicas_of(kind, *fields, type);
        if (replicas == nullptr) continue;
        const std::int64_t number =
            kube::int_at(*replicas, "replicas").value_or(type.default_replicas);
        written[type.name] =
            static_cast<std::int32_t>(std::clamp<std::int64_t>(number, 0, kMaxReplicas));
    }
    return written;
}

std::map<std::string, AskedReplicas> in_effect(const ExecutedPlan& plan,
                                               const std::map<std::string, std::int32_t>& written) {
    std::map<std::string, AskedReplicas> all;
    for (const auto& [type, asked] : plan.replicas) {
        const auto now = written.find(type);
        if (now == written.end()) continue;
        AskedReplicas left = asked;
        if (left.instead_of != now->second) left.replicas.reset();
        if (!left.replicas) left.instead_of.reset();
        if (left.replicas || !left.resource.empty()) all.emplace(type, std::move(left));
    }
    return all;
}

json::value with_asked(const JobKind& kind, const json::value& manifest,
                       const std::map<std::string, AskedReplicas>& asked) {
    json::value changed = kube::copy_of(manifest);
    json::object* fields = changed.if_object();
    for (const auto& [type, change] : asked) {
        const ReplicaType* known = kind.replica_type(type);
        json::object* replicas =
            fields == nullptr || known == nullptr ? nullptr : replicas_of(kind, *fields, *known);
        if (replicas == nullptr) continue;
        if (change.replicas) (*replicas)["replicas"] = *change.replicas;
        set_resource(kind, *replicas, change.resource);
    }
    return changed;
}

}  // namespace muster::jobs
