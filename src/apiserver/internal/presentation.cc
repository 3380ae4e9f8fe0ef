#include "apiserver/internal/presentation.h"

#include "apiserver/internal/json_access.h"
#include "kube/document.h"

namespace muster::apiserver {

kube::ObjectPtr in_version(const ResourceDef& def, kube::ObjectPtr object) {
    if (def.storage_version || object == nullptr) return object;
    const json::object& stored = object->get_object();
    if (string_at(stored, "apiVersion") != def.storage_api_version) return object;
    kube::Document copy(*object);
    copy.object()["apiVersion"] = def.type.api_version();
    return std::move(copy).share();
}

}  // namespace muster::apiserver
