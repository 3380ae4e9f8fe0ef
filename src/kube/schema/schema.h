#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/schema/schema_constraint.h"
#include "kube/schema/schema_properties.h"
#include "kube/values/json.h"

namespace muster::kube {

/// The structure of an API type: its fields, their types, and how its lists merge. One description
/// serves validation, pruning, defaults, strategic merge, and the CRD's OpenAPI schema, so they
/// can't drift apart. Immutable once built, and shared.
class Schema {
  public:
    enum class Type { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean, kIntOrString };
    enum class ListType { kAtomic, kSet, kMap };
    using Ptr = std::shared_ptr<const Schema>;
    /// A rule in CEL (x-kubernetes-validations). Whoever evaluates it compiles it.
    struct Rule {
        std::string rule;
        std::string message;             ///< "": says what the rule is
        std::string message_expression;  ///< "": none
        std::string reason;              ///< of the cause; "": FieldValueInvalid
        std::string field_path;          ///< to the field that is blamed: ".spec.a", ".labels['x']"
        std::string blamed;              ///< the same as messages show it: "spec.a", "labels[x]"
        bool optional_old_self = false;
        bool says_optional_old_self = false;

        friend bool operator==(const Rule&, const Rule&) = default;
    };

    Type type = Type::kAny;
    std::string description;
    std::string format;  ///< int32, int64, date-time, byte, quantity
    bool nullable = false;
    bool preserve_unknown = false;   ///< of an object: keys outside `properties` are kept
    bool atomic = false;             ///< of an object: has one owner (x-kubernetes-map-type)
    bool embedded_resource = false;  ///< a whole object: apiVersion, kind, metadata are implied
    bool whole_doubles = false;      ///< of a definition's integer: 2.0 is one, and is kept as 2
    bool omits_zero = false;  ///< of a field: its zero value (0, false, "", [], {}) is its absence

    SchemaProperties properties;  ///< of an object
    std::vector<std::string> required;
    Ptr additional;  ///< of a map: the schema of each value
    Ptr items;       ///< of an array
    ListType list_type = ListType::kAtomic;
    std::vector<std::string> list_map_keys;
    bool repeats = false;  ///< of a keyed list: equal keys are accepted, as in a container's env
    std::string patch_merge_key;         ///< strategic merge: merge this list by this key
    bool patch_merge_primitive = false;  ///< strategic merge: union of a list of scalars
    bool patch_retain_keys = false;

    std::vector<std::string> enumeration;
    std::optional<std::int64_t> minimum;
    std::optional<std::int64_t> maximum;
    std::string pattern;                    ///< RE2 syntax, unanchored
    std::optional<std::size_t> min_length;  ///< of a string, in code points
    std::optional<std::size_t> max_length;
    std::optional<std::size_t> min_items;  ///< of an array
    std::optional<std::size_t> max_items;
    std::optional<std::size_t> min_properties;  ///< of an object
    std::optional<std::size_t> max_properties;
    SchemaConstraint::Ptr constraint;  ///< what no field above can say; null: nothing
    json::value default_value;         ///< null: none
    std::vector<Rule> rules;
    bool rules_below = false;  ///< a part of it has rules

    bool has_rules() const { return rules_below || !rules.empty(); }
    /// The field's schema, or null if the object does not know it.
    const Schema* property(std::string_view name) const;
    /// The openAPIV3Schema of a CustomResourceDefinition. What a CRD can't express (how lists merge
    /// under a strategic patch) is left out.
    json::value to_openapi() const;
    /// The reverse, for the schema of a CRD's version that arrives as JSON. Null with the causes
    /// when it is not structural, or says something that validate() would not enforce. Rules in CEL are read and kept,
    /// but neither compiled nor enforced here. `path` is where `openapi` stands in the CRD. The root
    /// is a whole object, so its metadata is ObjectMeta.
    static std::pair<Ptr, std::vector<Cause>> from_openapi(const json::value& openapi,
                                                           const std::string& path);
};

/// An unknown key, and the known one that it probably meant ("" if none is near).
struct UnknownField {
    std::string path;
    std::string nearest;
};

/// All wrong types, missing required fields, values outside enums and ranges, and repeated keys of
/// keyed lists, with field paths (`spec.containers[0].ports[1].containerPort`). A null field counts
/// as absent unless it is nullable. A value nested deeper than 200 levels is one cause.
std::vector<Cause> validate(const Schema& schema, const json::value& value,
                            const std::string& path = {});

/// The result of one walk: everything that validate() finds, and whether the other functions need a
/// walk of their own.
struct Inspection {
    std::vector<Cause> causes;
    bool unknown_fields = false;  ///< find_unknown() would find some
    /// There are nulls or zero values that prune() removes, or doubles that it makes integers.
    bool absent_fields = false;
};
/// `ruled`: a struct of which others say what it lacks, so that a missing field of it, or of its parts,
/// is no cause.
Inspection inspect(const Schema& schema, const json::value& value, const std::string& path = {},
                   const Schema* ruled = nullptr);
/// The same for a change of an object: what is wrong with parts that are as in `before` is no
/// cause, but for metadata. Upstream's name of that is ratcheting.
std::vector<Cause> validate_change(const Schema& schema, const json::value& value,
                                   const json::value& before);

/// The keys that the schema does not know, as in upstream at most a hundred.
std::vector<UnknownField> find_unknown(const Schema& schema, const json::value& value,
                                       const std::string& path = {});
/// The nulls where the schema allows none, at most a hundred, as values of a wrong type.
std::vector<Cause> find_nulls(const Schema& schema, const json::value& value);
/// Removes these keys, nulls where the schema allows none, and zero values that mean absence; makes
/// integers of whole doubles where the schema wants them.
void prune(const Schema& schema, json::value& value);
/// Sets defaults where the parent exists and the field does not, or is null and must not be. True
/// if anything was missing. Adds at most 4 MiB, with which no object may be stored.
bool apply_defaults(const Schema& schema, json::value& value);

/// The candidate with the smallest edit distance if it is near enough to be what was meant.
std::string nearest_name(std::string_view unknown, const std::vector<std::string>& candidates);

/// The complete structure of a built-in kind of Kubernetes 1.33 ("Pod", "Deployment", "ObjectMeta")
/// and of everything that it consists of ("PodSpec", "Container"). If another group or version uses
/// the same name for a different structure, that has a name of its own ("NewEvent",
/// "HorizontalPodAutoscalerV1", "EndpointSlicePort"). Null for an unknown name. Any thread.
Schema::Ptr core_schema(std::string_view name);
/// The name under which core_schema() has this very object, or "". Any thread.
std::string_view core_schema_name(const Schema& schema);

}  // namespace muster::kube
