#include "apiserver/objects/json_access.h"

#include "kube/values/document.h"

namespace muster::apiserver {

bool has_finalizers(const json::object& object) {
    const json::array* finalizers = array_at(metadata_of(object), "finalizers");
    return finalizers != nullptr && !finalizers->empty();
}

bool has_finalizer(const json::object& object, std::string_view finalizer) {
    const json::array* finalizers = array_at(metadata_of(object), "finalizers");
    if (finalizers == nullptr) return false;
    return std::ranges::any_of(*finalizers, [&](const json::value& entry) {
        return entry.is_string() && std::string_view(entry.get_string()) == finalizer;
    });
}

kube::ObjectPtr with_resource_version(const json::value& object, std::uint64_t revision) {
    kube::Document copy(object);
    ensure_object(copy.object(), "metadata")["resourceVersion"] = std::to_string(revision);
    return std::move(copy).share();
}

void set_at_path(json::object& object, std::string_view dotted, json::value value) {
    json::object* parent = &object;
    while (true) {
        const std::size_t dot = dotted.find('.');
        if (dot == std::string_view::npos) break;
        parent = &ensure_object(*parent, dotted.substr(0, dot));
        dotted.remove_prefix(dot + 1);
    }
    (*parent)[dotted] = std::move(value);
}

}  // namespace muster::apiserver
