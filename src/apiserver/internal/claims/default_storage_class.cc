#include "apiserver/internal/claims/default_storage_class.h"

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

bool is_default_class(const json::object& storage_class) {
    const json::object& annotations = child(metadata_of(storage_class), "annotations");
    return string_at(annotations, "storageclass.kubernetes.io/is-default-class") == "true" ||
           string_at(annotations, "storageclass.beta.kubernetes.io/is-default-class") == "true";
}

DefaultStorageClass::Entry DefaultStorageClass::entry_of(const json::object& storage_class) {
    return {.created = std::string(string_at(metadata_of(storage_class), "creationTimestamp")),
            .name = std::string(name_of(storage_class))};
}

std::string_view DefaultStorageClass::name() const {
    return defaults_.empty() ? std::string_view() : std::string_view(defaults_.begin()->name);
}

void DefaultStorageClass::follow(const json::object* before, const json::object* after) {
    if (before != nullptr) defaults_.erase(entry_of(*before));
    if (after != nullptr && is_default_class(*after)) defaults_.insert(entry_of(*after));
}

}  // namespace muster::apiserver
