#include "manifest/pod_specs.h"

#include <fmt/format.h>

#include "base/lower_case.h"
#include "kube/values/json_access.h"
#include "manifest/known_kinds.h"

namespace muster::manifest {

namespace {

using kube::object_at;
using kube::string_at;

}  // namespace

const jobs::ReplicaType* type_named(const jobs::JobKind& kind, std::string_view key) {
    const std::span<const jobs::ReplicaType> types = kind.written_types();
    const auto found = std::ranges::find_if(
        types, [&](const jobs::ReplicaType& known) { return equal_without_case(known.name, key); });
    return found == types.end() ? nullptr : &*found;
}

std::vector<PodSpecRef> pod_specs(Document& document) {
    std::vector<PodSpecRef> refs;
    json::object* root = document.object.if_object();
    if (root == nullptr) return refs;
    Lookup found = look_up(string_at(*root, "apiVersion"), string_at(*root, "kind"));
    if (found.known == nullptr) return refs;
    json::object* spec = object_at(*root, "spec");
    if (spec == nullptr) return refs;
    if (found.known->job_kind == nullptr) {
        if (found.known->type.kind == "Pod") refs.push_back({"spec", {}, spec});
        return refs;
    }
    const jobs::JobKind& kind = *found.known->job_kind;
    json::object* replicas = object_at(*spec, kind.replicas_field);
    if (replicas == nullptr) return refs;
    for (auto& [key, value] : *replicas) {
        json::object* replica = value.if_object();
        json::object* template_ = replica == nullptr ? nullptr : object_at(*replica, "template");
        json::object* pod = template_ == nullptr ? nullptr : object_at(*template_, "spec");
        if (pod == nullptr) continue;
        const jobs::ReplicaType* known = type_named(kind, key);
        std::string type = known == nullptr ? std::string(key) : known->name;
        refs.push_back(
            {fmt::format("spec.{}.{}.template.spec", kind.replicas_field, std::string_view(key)),
             std::move(type), pod});
    }
    return refs;
}

std::vector<ContainerRef> containers(const PodSpecRef& pod) {
    std::vector<ContainerRef> refs;
    for (std::string_view list : {"initContainers", "containers"}) {
        json::value* field = pod.spec->if_contains(list);
        if (field == nullptr || !field->is_array()) continue;
        std::size_t index = 0;
        for (json::value& item : field->get_array()) {
            std::string path = fmt::format("{}.{}[{}]", pod.path, list, index++);
            if (json::object* container = item.if_object())
                refs.push_back({std::move(path), list == "initContainers", container});
        }
    }
    return refs;
}

}  // namespace muster::manifest
