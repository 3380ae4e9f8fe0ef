#include "apiserver/internal/presentation.h"

#include "apiserver/internal/json_access.h"

namespace muster::apiserver {

kube::ObjectPtr in_version(const ResourceDef& def, kube::ObjectPtr object) {
    if (def.storage_version || object == nullptr) return object;
    const json::object& stored = object->get_object();
    if (string_at(stored, "apiVersion") != def.storage_api_version) return object;
    json::value copy = *object;
    copy.get_object()["apiVersion"] = def.type.api_version();
    return std::make_shared<const json::value>(std::move(copy));
}

}  // namespace muster::apiserver
