#include "apiserver/internal/presentation.h"

#include "apiserver/internal/json_access.h"
#include "kube/document.h"

namespace muster::apiserver {

ObjectTextPtr in_version(const ResourceDef& def, ObjectTextPtr object) {
    if (def.storage_version || object == nullptr) return object;
    const kube::ObjectPtr stored = object->tree();
    if (string_at(stored->get_object(), "apiVersion") != def.storage_api_version) return object;
    kube::Document copy(*stored);
    copy.object()["apiVersion"] = def.type.api_version();
    return ObjectText::of(std::move(copy).share());
}

}  // namespace muster::apiserver
