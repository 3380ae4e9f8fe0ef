#include "manifest/pod_specs.h"

#include <fmt/format.h>

#include "manifest/known_kinds.h"

namespace muster::manifest {

namespace {

json::object* object_at(json::object* parent, std::string_view key) {
    json::value* field = parent == nullptr ? nullptr : parent->if_contains(key);
    return field == nullptr ? nullptr : field->if_object();
}

std::string_view text_at(const json::object& object, std::string_view key) {
    const json::value* field = object.if_contains(key);
    return field != nullptr && field->is_string() ? std::string_view(field->get_string())
                                                  : std::string_view();
}

bool same_word(std::string_view a, std::string_view b) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

const jobs::ReplicaType* type_named(const jobs::JobKind& kind, std::string_view key) {
    const auto found = std::ranges::find_if(
        kind.replica_types,
        [&](const jobs::ReplicaType& known) { return same_word(known.name, key); });
    return found == kind.replica_types.end() ? nullptr : &*found;
}

std::vector<PodSpecRef> pod_specs(Document& document) {
    std::vector<PodSpecRef> refs;
    json::object* root = document.object.if_object();
    if (root == nullptr) return refs;
    Lookup found = look_up(text_at(*root, "apiVersion"), text_at(*root, "kind"));
    if (found.known == nullptr) return refs;
    json::object* spec = object_at(root, "spec");
    if (spec == nullptr) return refs;
    if (found.known->job_kind == nullptr) {
        if (found.known->type.kind == "Pod") refs.push_back({"spec", {}, spec});
        return refs;
    }
    const jobs::JobKind& kind = *found.known->job_kind;
    json::object* replicas = object_at(spec, kind.replicas_field);
    if (replicas == nullptr) return refs;
    for (auto& [key, value] : *replicas) {
        json::object* pod = object_at(object_at(value.if_object(), "template"), "spec");
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
