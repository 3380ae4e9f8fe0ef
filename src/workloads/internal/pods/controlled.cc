#include "workloads/internal/pods/controlled.h"

namespace muster::workloads {

kube::ObjectReference Owner::reference() const {
    kube::ObjectReference reference;
    reference.api_version = type.api_version();
    reference.kind = type.kind;
    reference.namespace_ = name.namespace_;
    reference.name = name.name;
    reference.uid = uid;
    return reference;
}

json::object Owner::owner_reference() const {
    return {{"apiVersion", type.api_version()},
            {"kind", type.kind},
            {"name", name.name},
            {"uid", uid},
            {"controller", true},
            {"blockOwnerDeletion", true}};
}

json::object& object_in(json::object& parent, std::string_view key) {
    // operator[] may move all members, even if there is one of that name.
    json::value* value = parent.if_contains(key);
    if (value == nullptr) value = &parent[key];
    return value->is_object() ? value->get_object() : value->emplace_object();
}

bool is_controlled_by(const json::object& object, std::string_view uid) {
    for (const json::object* owner : kube::objects_at(kube::metadata_of(object), "ownerReferences"))
        if (kube::bool_at(*owner, "controller")) return kube::string_at(*owner, "uid") == uid;
    return false;
}

kube::NamespacedName name_of_key(std::string_view key) {
    const std::size_t slash = key.find('/');
    return {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

Owner owner_of(const kube::ResourceType& type, const json::object& object) {
    return {type, kube::namespaced_name_of(object), std::string(kube::uid_of(object))};
}

json::object from_template(const json::object& template_, const Owner& owner) {
    json::object metadata{{"namespace", owner.name.namespace_}};
    const json::object& given = kube::metadata_of(template_);
    for (const char* key : {"labels", "annotations", "finalizers"})
        if (const json::value* value = given.if_contains(key);
            value != nullptr && !value->is_null())
            metadata[key] = *value;
    metadata["ownerReferences"] = json::array{owner.owner_reference()};
    json::object made{{"metadata", std::move(metadata)}};
    if (const json::value* spec = template_.if_contains("spec")) made["spec"] = *spec;
    return made;
}

}  // namespace muster::workloads
