#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/objects/field_errors.h"
#include "base/time/clock.h"
#include "kube/objects/resource_type.h"
#include "kube/schema/schema.h"
#include "kube/values/json_path.h"

namespace muster::apiserver {

enum class NameRule {
    kDnsSubdomain,
    kDnsLabel,
    kDns1035Label,  ///< a DNS label that starts with a letter
    kPathSegment,   ///< anything but '/', '%', "." and ".."
};

class SchemaRules;
struct WebhookConversion;

/// What one kind adds to the common rules. Null members add nothing. Their results depend only on
/// their arguments.
struct Strategy {
    /// Sets fields that were left out, on create and on update.
    void (*apply_defaults)(json::object& object) = nullptr;
    /// Sets system fields of a new object (status, finalizers, ...).
    void (*prepare_create)(json::object& object, WallTime now) = nullptr;
    /// The same for a write to the main resource.
    void (*prepare_update)(json::object& next, const json::object& current) = nullptr;
    /// What a deletion that does not end immediately changes besides the metadata.
    void (*prepare_delete)(json::object& object, WallTime now) = nullptr;
    std::function<void(const json::object& object, FieldErrors& field_errors)> validate = nullptr;
    /// Checks that apply only to a new object.
    void (*validate_create)(const json::object& object, FieldErrors& field_errors) = nullptr;
    void (*validate_update)(const json::object& next, const json::object& current,
                            FieldErrors& field_errors) = nullptr;
    /// Of a write to the subresource for spec.ephemeralContainers: checks that list alone.
    void (*validate_ephemeral)(const json::object& next, const json::object& current,
                               FieldErrors& field_errors) = nullptr;
};

/// Where a scalable custom resource keeps its numbers; JSON paths without the leading dot.
struct ScalePaths {
    std::string spec_replicas;
    std::string status_replicas;
    std::string label_selector;  ///< empty: none
};

/// How a version of a resource differs in structure from what is stored. Pure; null members change
/// nothing. While a write is decided, all entries of managedFields use the field names of the
/// written version; in storage each entry uses those of its own version.
struct VersionConversion {
    /// Converts a stored object to this version.
    void (*show)(json::object& object) = nullptr;
    /// Converts the entries of other versions to the names of this one.
    void (*align_owners)(json::object& object) = nullptr;
    /// Converts the result of a write through this version to the stored form.
    void (*store)(json::object& object) = nullptr;
    /// The path in a stored object for a field selector of this version.
    std::string (*stored_field)(std::string_view path) = nullptr;
};

/// A column that a CustomResourceDefinition declares for the Tables of its objects.
struct PrinterColumn {
    std::string name;
    std::string type;  ///< integer, number, string, boolean or date
    std::string format;
    std::string description;
    std::int64_t priority = 0;  ///< 0: always shown
    kube::JsonPath path;
};

/// One served version of a resource: everything that the verbs need to know about it. Immutable.
struct ResourceDef {
    kube::ResourceType type;
    std::string list_kind;
    std::string singular;
    std::vector<std::string> short_names;
    std::vector<std::string> categories;
    kube::Schema::Ptr schema;
    /// An object in which nothing is set, if something is there even then; else null.
    const json::value* unset = nullptr;
    NameRule name_rule = NameRule::kDnsSubdomain;
    Strategy strategy;

    std::vector<PrinterColumn> printer_columns;  ///< of a custom resource
    std::shared_ptr<const SchemaRules> rules;    ///< of a custom resource; null: none
    std::size_t pattern_steps = 0;  ///< for each character at the worst; of a custom resource

    bool custom = false;  ///< from a CustomResourceDefinition
    /// The node's measurements for the core resource of the same plural. They are not stored, and
    /// can only be read and listed.
    bool is_metrics = false;
    bool served = true;  ///< false: known only to the server's own controllers
    bool stored = true;  ///< false: a review that is answered, not an object that is stored
    bool storage_version = true;
    std::string storage_api_version;  ///< the apiVersion of stored objects
    /// Set for each version of a resource whose versions differ in more than their names.
    const VersionConversion* conversion = nullptr;
    /// Of a custom resource whose definition has its objects converted by a webhook; null: they are
    /// the same in all versions.
    std::shared_ptr<const WebhookConversion> webhook_conversion;
    /// Stored objects may be of versions that were stored before.
    bool stored_in_several = false;
    /// The resource as which it is stored, if that is in another group; else empty.
    std::string stored_as;
    std::string deprecation_warning;  ///< empty: none
    bool has_status = false;
    std::optional<ScalePaths> scale;
    std::set<std::string, std::less<>> other_subresources;  ///< "log", "binding"

    bool tracks_generation = false;
    bool unconditional_update = true;
    bool create_on_update = false;
    bool returns_deleted = false;  ///< DELETE answers with the object instead of a Status
    bool deletes_gracefully = false;
    /// spec.finalizers block the deletion as metadata.finalizers do (namespaces).
    bool has_spec_finalizers = false;
    /// Fields that a selector may name besides metadata.name and metadata.namespace.
    std::vector<std::string> selectable_fields;
    /// The kind has its own messages for unknown fields.
    bool strict_field_labels = false;

    /// Key of the resource in the store, the same for all versions.
    std::string storage_key() const { return stored_as.empty() ? type.qualified() : stored_as; }
};
using DefPtr = std::shared_ptr<const ResourceDef>;

}  // namespace muster::apiserver
