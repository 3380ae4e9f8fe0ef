#include "apiserver/internal/writing/field_tracking.h"

#include <initializer_list>

#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kManagedFields = "managedFields";

kube::IgnoredFields ignoring(std::initializer_list<std::string_view> fields,
                             std::initializer_list<std::string_view> metadata) {
    using kube::PathElement;
    kube::IgnoredFields ignored;
    for (std::string_view field : {"apiVersion", "kind"})
        ignored.insert({PathElement::field(field)});
    for (std::string_view field : fields) ignored.insert({PathElement::field(field)});
    for (std::string_view field :
         {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
          "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"})
        ignored.insert({PathElement::field("metadata"), PathElement::field(field)});
    for (std::string_view field : metadata)
        ignored.insert({PathElement::field("metadata"), PathElement::field(field)});
    return ignored;
}

}  // namespace

const kube::IgnoredFields& ignored_fields(const ResourceDef& def, std::string_view subresource) {
    static const kube::IgnoredFields kObject = ignoring({}, {});
    static const kube::IgnoredFields kObjectWithStatus = ignoring({"status"}, {});
    // A write to the status of a built-in kind includes labels, annotations and finalizers.
    static const kube::IgnoredFields kStatus =
        ignoring({"spec"}, {"ownerReferences", "generateName"});
    static const kube::IgnoredFields kCustomStatus = ignoring({"spec", "metadata"}, {});
    if (subresource == "status") return def.custom ? kCustomStatus : kStatus;
    return def.has_status ? kObjectWithStatus : kObject;
}

void track_creation(const ResourceDef& def, json::value& object, const kube::FieldOwner& manager) {
    json::object& meta = ensure_object(object.get_object(), "metadata");
    meta.erase(kManagedFields);
    json::array entries = kube::record_creation(def.schema.get(), object, ignored_fields(def, ""),
                                                manager, meta.storage());
    if (!entries.empty()) meta[kManagedFields] = std::move(entries);
}

StatusResult<void> track_write(const ResourceDef& def, const json::value& stored, json::value& next,
                               const kube::FieldOwner& manager) {
    json::object& meta = ensure_object(next.get_object(), "metadata");
    const json::value* before = metadata_of(stored).if_contains(kManagedFields);
    json::value* sent = meta.if_contains(kManagedFields);
    const bool changed = before == nullptr || sent == nullptr || !kube::equal(*sent, *before);
    bool replaced = false;
    if (changed && sent != nullptr && sent->is_array() && manager.subresource.empty()) {
        if (kube::resets_managed_fields(sent->get_array())) {
            meta.erase(kManagedFields);
            return {};
        }
        Result<json::array> read = kube::read_managed_fields(sent->get_array(), meta.storage());
        if (!read)
            return invalid(
                def.type, name_of(stored.get_object()),
                {invalid_value("metadata.managedFields", json::value(), read.error().message())});
        replaced = !read->empty();
        if (replaced) *sent = *std::move(read);
    }
    // A client that sends none, or meaningless ones, does not know about them; the stored ones are
    // kept.
    if (changed && !replaced) {
        if (before == nullptr)
            meta.erase(kManagedFields);
        else
            meta[kManagedFields] = *before;
    }
    json::array* entries = array_at(meta, kManagedFields);
    if (entries == nullptr || entries->empty()) return {};
    kube::record_write(*entries, def.schema.get(), stored, next,
                       ignored_fields(def, manager.subresource), manager);
    return {};
}

}  // namespace muster::apiserver
