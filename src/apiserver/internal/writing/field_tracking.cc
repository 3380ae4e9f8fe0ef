#include "apiserver/internal/writing/field_tracking.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "apiserver/internal/writing/owner_views.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kManagedFields = "managedFields";

/// Whether the kind may have that version.
bool is_of_group(const ResourceDef& def, std::string_view api_version) {
    const auto group_of = [](std::string_view version) {
        const std::size_t slash = version.find('/');
        return slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
    };
    if (def.conversion != nullptr || !def.stored_as.empty()) return true;  // in several groups
    return group_of(api_version) == def.type.group;
}

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

bool keeps_labels(const ResourceDef& def) { return def.storage_key() == "deployments.apps"; }

const kube::IgnoredFields& ignored_fields(const ResourceDef& def, std::string_view subresource) {
    static const kube::IgnoredFields kObject = ignoring({}, {});
    static const kube::IgnoredFields kObjectWithStatus = ignoring({"status"}, {});
    // A write to the status of a built-in kind includes labels, annotations and finalizers.
    static const kube::IgnoredFields kStatus =
        ignoring({"spec"}, {"ownerReferences", "generateName"});
    static const kube::IgnoredFields kStatusAlone =
        ignoring({"spec"}, {"ownerReferences", "generateName", "labels"});
    // As upstream, metadata that is sent with the status of a custom resource has an owner then,
    // although it is not stored.
    static const kube::IgnoredFields kCustomStatus = ignoring({"spec"}, {});
    if (subresource == "status" && def.custom) return kCustomStatus;
    if (subresource == "status") return keeps_labels(def) ? kStatusAlone : kStatus;
    return def.has_status ? kObjectWithStatus : kObject;
}

void track_creation(const ResourceDef& def, json::value& object, const kube::FieldOwner& manager) {
    json::object& meta = ensure_object(object.get_object(), "metadata");
    meta.erase(kManagedFields);
    json::array entries = kube::record_creation(def.schema.get(), object, ignored_fields(def, ""),
                                                manager, def.unset, meta.storage());
    if (!entries.empty()) meta[kManagedFields] = std::move(entries);
}

StatusResult<void> track_write(const ResourceDef& def, const json::value& stored, json::value& next,
                               const Ownership& ownership) {
    const kube::FieldOwner& manager = ownership.manager;
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
        const auto unknown = [&](const json::value& entry) {
            return !is_of_group(def, string_at(entry.get_object(), "apiVersion"));
        };
        if (read && def.custom && std::ranges::any_of(sent->get_array(), unknown)) {
            meta.erase(kManagedFields);
            return {};
        }
        replaced = read && !read->empty();
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
    const auto is_foreign = [&](const json::value& entry) {
        return !is_of_group(def, string_at(entry.get_object(), "apiVersion"));
    };
    if (std::ranges::any_of(*entries, is_foreign)) {
        // As upstream, which can't convert a custom resource to such a version.
        if (def.custom) {
            meta.erase(kManagedFields);
            return {};
        }
        json::array kept(meta.storage());
        for (json::value& entry : *entries)
            if (!is_foreign(entry)) kept.push_back(std::move(entry));
        *entries = std::move(kept);
    }
    if (ownership.views != nullptr && ownership.views->gave_up()) {
        meta.erase(kManagedFields);
        return {};
    }
    kube::record_write(*entries, def.schema.get(), stored, next,
                       ignored_fields(def, manager.subresource), manager, ownership.views.get());
    return {};
}

json::value owners_of(const json::value& object) {
    const json::value* owners = metadata_of(object).if_contains("managedFields");
    return owners == nullptr ? json::value() : kube::copy_of(*owners);
}

void mend_owners(json::object& object, const json::value& before,
                 std::vector<std::string>& warnings) {
    json::object& meta = ensure_object(object, "metadata");
    const json::array* entries = array_at(meta, "managedFields");
    if (entries == nullptr) return;
    const Result<json::array> read = kube::read_managed_fields(*entries);
    if (read) return;
    warnings.push_back(fmt::format(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by "
        "an outdated mutating admission controller; please fix your requests: {}",
        read.error().message()));
    if (before.is_null())
        meta.erase("managedFields");
    else
        meta["managedFields"] = before;
}

}  // namespace muster::apiserver
