#include "apiserver/internal/claims/claim_admission.h"

#include <utility>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {
constexpr const char* kOldClassAnnotation = "volume.beta.kubernetes.io/storage-class";
}  // namespace

void add_finalizer(json::object& object, std::string_view finalizer) {
    if (has_finalizer(object, finalizer)) return;
    json::value& list = ensure_object(object, "metadata")["finalizers"];
    if (!list.is_array()) list.emplace_array();
    list.get_array().emplace_back(finalizer);
}

void remove_finalizer(json::object& object, std::string_view finalizer) {
    json::object& metadata = ensure_object(object, "metadata");
    json::array* list = array_at(metadata, "finalizers");
    if (list == nullptr) return;
    json::array kept(list->storage());
    for (json::value& entry : *list)
        if (!entry.is_string() || std::string_view(entry.get_string()) != finalizer)
            kept.push_back(std::move(entry));
    if (kept.empty())
        metadata.erase("finalizers");
    else
        *list = std::move(kept);
}

void give_storage_class(json::object& claim, std::string_view default_class) {
    json::object& spec = ensure_object(claim, "spec");
    if (default_class.empty() || spec.contains("storageClassName")) return;
    const json::object& annotations = child(metadata_of(claim), "annotations");
    if (!annotations.contains(kOldClassAnnotation)) spec["storageClassName"] = default_class;
}

}  // namespace muster::apiserver
