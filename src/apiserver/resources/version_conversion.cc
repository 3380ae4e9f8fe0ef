#include "apiserver/resources/version_conversion.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// For names that are longer than before.
constexpr std::size_t kSpareBytes = 2048;

bool has_owners_of_other_versions(const ResourceDef& def, const json::object& object) {
    const json::array* entries = array_at(metadata_of(object), "managedFields");
    if (entries == nullptr) return false;
    const std::string version = def.type.api_version();
    return std::ranges::any_of(*entries, [&](const json::value& entry) {
        return entry.is_object() && string_at(entry.get_object(), "apiVersion") != version;
    });
}

}  // namespace

store::ObjectTextPtr in_version(const ResourceDef& def, store::ObjectTextPtr object) {
    if (object == nullptr || def.webhook_conversion != nullptr) return object;
    if (def.storage_version && !def.stored_in_several) return object;
    const kube::ObjectPtr stored = object->tree();
    const std::string_view version = string_at(stored->get_object(), "apiVersion");
    if (def.custom ? version == def.type.api_version() : version != def.storage_api_version)
        return object;
    kube::Document copy(*stored);
    copy.object()["apiVersion"] = def.type.api_version();
    if (def.conversion != nullptr) def.conversion->show(copy.object());
    return store::ObjectText::of(std::move(copy).share());
}

kube::ObjectPtr before_write(const ResourceDef& def, kube::ObjectPtr stored) {
    const VersionConversion* conversion = def.conversion;
    if (conversion == nullptr) return stored;
    if (conversion->show == nullptr && !has_owners_of_other_versions(def, stored->get_object()))
        return stored;
    kube::Document met(*stored, kSpareBytes);
    if (conversion->show != nullptr) conversion->show(met.object());
    conversion->align_owners(met.object());
    return std::move(met).share();
}

kube::Document after_write(const ResourceDef& def, kube::Document written) {
    if (def.conversion != nullptr) def.conversion->store(written.object());
    if (def.stored_in_several) written.object()["apiVersion"] = def.storage_api_version;
    return written;
}

kube::Document converted(const ResourceDef& from, const ResourceDef& to,
                         const json::value& object) {
    kube::Document met(object, kSpareBytes);
    if (&from == &to) return met;
    if (from.conversion != nullptr) from.conversion->store(met.object());
    met.object()["apiVersion"] = to.type.api_version();
    if (to.conversion == nullptr) return met;
    if (to.conversion->show != nullptr) to.conversion->show(met.object());
    to.conversion->align_owners(met.object());
    return met;
}

}  // namespace muster::apiserver
