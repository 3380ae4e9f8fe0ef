#include <algorithm>
#include <boost/json/value.hpp>
#include <cstdint>

#include "kube/internal/schema/constraint_reader.h"
#include "kube/internal/schema/pattern_cost.h"
#include "kube/internal/schema/schema_formats.h"
#include "kube/internal/schema/schema_rules.h"
#include "kube/internal/schema/schema_types.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/schema/schema.h"
#include "kube/schema/schema_pool.h"

namespace muster::kube {
namespace {

using Type = Schema::Type;
using ListType = Schema::ListType;

template <class T>
void put(json::object& out, std::string_view key, const std::optional<T>& value) {
    if (value) out.emplace(key, *value);
}

void put_strings(json::object& out, std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    json::array list;
    for (const std::string& value : values) list.emplace_back(value);
    out.emplace(key, std::move(list));
}

/// Reads one OpenAPI schema and collects every reason against it.
class Reader {
  public:
    Reader(const std::string& path, SchemaPool* pool) : path_(path), pool_(pool) {}

    Schema::Ptr read(const json::value& value, bool root) {
        if (pool_ == nullptr || root) return read_new(value, root);
        const Fingerprint json = fingerprint_of(value);
        if (Schema::Ptr known = pool_->find(json)) return known;
        const std::size_t causes = causes_.size();
        Schema::Ptr part = read_new(value, root);
        if (part != nullptr && causes_.size() == causes) pool_->add(json, part);
        return part;
    }

    std::vector<Cause> take() { return std::move(causes_); }

  private:
    Schema::Ptr read_new(const json::value& value, bool root) {
        constexpr int kDeepest = 200;
        const json::object* object = value.if_object();
        if (object == nullptr) {
            refuse({}, "FieldValueTypeInvalid", "Invalid value: a schema must be an object");
            return nullptr;
        }
        if (depth_ >= kDeepest) {
            refuse({}, "FieldValueInvalid", "Invalid value: schema nested too deeply");
            return nullptr;
        }
        ++depth_;
        auto schema = std::make_shared<Schema>();
        read_extensions(*object, *schema);
        for (const auto& [key, field] : *object)
            if (!is_constraint_field(*object, key)) read_field(key, field, *schema);
        settle_field_paths(*schema, path_, causes_);
        read_type(*object, *schema, root);
        schema->whole_doubles =
            schema->type == Type::kInteger || schema->type == Type::kIntOrString;
        if (schema->atomic && schema->type != Type::kObject)
            refuse("x-kubernetes-map-type", "FieldValueInvalid",
                   "Invalid value: only for objects and maps");
        check_list(*schema);
        schema->rules_below = are_rules_below(*schema);
        if (root || schema->embedded_resource) make_resource(*schema);
        schema->constraint = read_constraint(*object, *schema, root, path_, causes_);
        check_default(*object, *schema);
        if (schema->whole_doubles && is_whole_double(schema->default_value))
            schema->default_value = static_cast<std::int64_t>(schema->default_value.get_double());
        --depth_;
        return schema;
    }

    void refuse(std::string_view key, std::string_view reason, std::string message) {
        causes_.push_back({std::string(reason), std::move(message),
                           key.empty() ? path_.text() : path_.field(key)});
    }
    void forbid(std::string_view key, std::string_view why) {
        refuse(key, "FieldValueForbidden", "Forbidden: " + std::string(why));
    }
    void mistyped(std::string_view key, std::string_view wanted) {
        refuse(key, "FieldValueTypeInvalid", "Invalid value: must be " + std::string(wanted));
    }

    std::string text(std::string_view key, const json::value& value) {
        if (const json::string* string = value.if_string())
            return std::string(string->data(), string->size());
        mistyped(key, "a string");
        return {};
    }
    bool flag(std::string_view key, const json::value& value) {
        if (const bool* set = value.if_bool()) return *set;
        mistyped(key, "true or false");
        return false;
    }
    std::vector<std::string> texts(std::string_view key, const json::value& value) {
        std::vector<std::string> list;
        const json::array* array = value.if_array();
        if (array == nullptr) {
            mistyped(key, "a list of strings");
            return list;
        }
        for (const json::value& item : *array) list.push_back(text(key, item));
        return list;
    }
    std::optional<std::int64_t> whole(std::string_view key, const json::value& value) {
        if (const std::int64_t* number = value.if_int64()) return *number;
        // For a value that was constructed and not parsed.
        if (const std::uint64_t* number = value.if_uint64(); number && *number <= INT64_MAX)
            return static_cast<std::int64_t>(*number);
        if (const double* number = value.if_double())
            if (*number >= -9e15 && *number <= 9e15 &&
                *number == static_cast<double>(static_cast<std::int64_t>(*number)))
                return static_cast<std::int64_t>(*number);
        mistyped(key, "a whole number of at most 63 bits: others are not supported");
        return std::nullopt;
    }
    std::optional<std::size_t> size(std::string_view key, const json::value& value) {
        const std::optional<std::int64_t> number = whole(key, value);
        if (!number) return std::nullopt;
        if (*number >= 0) return static_cast<std::size_t>(*number);
        mistyped(key, "zero or more");
        return std::nullopt;
    }

    void read_extensions(const json::object& object, Schema& schema) {
        auto set = [&](std::string_view key) {
            const json::value* value = object.if_contains(key);
            return value != nullptr && flag(key, *value);
        };
        schema.preserve_unknown = set("x-kubernetes-preserve-unknown-fields");
        schema.embedded_resource = set("x-kubernetes-embedded-resource");
        if (set("x-kubernetes-int-or-string")) schema.type = Type::kIntOrString;
    }

    void read_field(std::string_view key, const json::value& value, Schema& schema) {
        if (value.is_null()) return;
        if (key == "description") {
            schema.description = text(key, value);
        } else if (key == "format") {
            schema.format = text(key, value);
        } else if (key == "nullable") {
            schema.nullable = flag(key, value);
        } else if (key == "properties") {
            read_properties(value, schema);
        } else if (key == "additionalProperties") {
            read_additional(value, schema);
        } else if (key == "items") {
            FieldPath::Step step(path_, key);
            schema.items = read(value, false);
        } else if (key == "required") {
            schema.required = texts(key, value);
        } else if (key == "enum") {
            schema.enumeration = texts(key, value);
        } else if (key == "minimum") {
            schema.minimum = whole(key, value);
        } else if (key == "maximum") {
            schema.maximum = whole(key, value);
        } else if (key == "minLength") {
            schema.min_length = size(key, value);
        } else if (key == "maxLength") {
            schema.max_length = size(key, value);
        } else if (key == "minItems") {
            schema.min_items = size(key, value);
        } else if (key == "maxItems") {
            schema.max_items = size(key, value);
        } else if (key == "minProperties") {
            schema.min_properties = size(key, value);
        } else if (key == "maxProperties") {
            schema.max_properties = size(key, value);
        } else if (key == "pattern") {
            schema.pattern = text(key, value);
            // The pattern of quantities is known to be good; every pod template has it many times.
            if (schema.pattern == kQuantityPattern) return;
            if (const std::string problem = pattern_problem(schema.pattern); !problem.empty())
                refuse(key, "FieldValueInvalid", problem);
        } else if (key == "default") {
            schema.default_value = value;
        } else {
            read_kubernetes_field(key, value, schema);
        }
    }
    void read_kubernetes_field(std::string_view key, const json::value& value, Schema& schema) {
        if (key == "x-kubernetes-validations") {
            schema.rules = read_rules(value, path_, causes_);
        } else if (key == "x-kubernetes-map-type") {
            read_map_type(text(key, value), schema);
        } else if (key == "x-kubernetes-list-type") {
            read_list_type(text(key, value), schema);
        } else if (key == "x-kubernetes-list-map-keys") {
            schema.list_map_keys = texts(key, value);
        } else {
            read_rarer(key, value);
        }
    }

    /// Keys without a meaning here, and keys that we would have to enforce and can't.
    void read_rarer(std::string_view key, const json::value& value) {
        static constexpr std::string_view kSilent[] = {"type",
                                                       "title",
                                                       "example",
                                                       "externalDocs",
                                                       "x-kubernetes-preserve-unknown-fields",
                                                       "x-kubernetes-embedded-resource",
                                                       "x-kubernetes-int-or-string"};
        static constexpr std::string_view kNotStructural[] = {
            "$ref",       "$schema",       "definitions", "dependencies",
            "deprecated", "discriminator", "id",          "patternProperties",
            "readOnly",   "writeOnly",     "xml",         "additionalItems"};
        for (std::string_view known : kSilent)
            if (key == known) return;
        for (std::string_view known : kNotStructural)
            if (key == known) return forbid(key, "must not be used in a structural schema");
        // Without a limit that it would exclude, or false.
        if (key == "exclusiveMinimum" || key == "exclusiveMaximum") return;
        if (key == "uniqueItems") {
            if (flag(key, value)) forbid(key, "must not be true; use x-kubernetes-list-type: set");
            return;
        }
        refuse(key, "FieldValueInvalid", "Invalid value: unknown keyword of a schema");
    }

    void read_properties(const json::value& value, Schema& schema) {
        FieldPath::Step step(path_, "properties");
        const json::object* object = value.if_object();
        if (object == nullptr) return mistyped({}, "an object");
        std::vector<SchemaProperties::Entry> properties;
        properties.reserve(object->size());
        for (const auto& [name, field] : *object) {
            FieldPath::Step inner(path_, name);
            if (Schema::Ptr property = read(field, false))
                properties.emplace_back(name, std::move(property));
        }
        schema.properties = SchemaProperties(std::move(properties));
    }

    void read_additional(const json::value& value, Schema& schema) {
        if (const bool* allowed = value.if_bool()) {
            if (*allowed) {
                schema.additional = std::make_shared<Schema>();
            } else {
                forbid("additionalProperties", "must not be false; unknown fields are pruned");
            }
            return;
        }
        FieldPath::Step step(path_, "additionalProperties");
        schema.additional = read(value, false);
    }

    void read_map_type(const std::string& name, Schema& schema) {
        schema.atomic = name == "atomic";
        if (name != "atomic" && name != "granular")
            refuse(
                "x-kubernetes-map-type", "FieldValueNotSupported",
                "Unsupported value: \"" + name + "\": supported values: \"atomic\", \"granular\"");
    }

    void read_list_type(const std::string& name, Schema& schema) {
        if (name == "set") {
            schema.list_type = ListType::kSet;
        } else if (name == "map") {
            schema.list_type = ListType::kMap;
        } else if (name != "atomic") {
            refuse("x-kubernetes-list-type", "FieldValueNotSupported",
                   "Unsupported value: \"" + name +
                       "\": supported values: \"atomic\", \"map\", \"set\"");
        }
    }

    void read_type(const json::object& object, Schema& schema, bool root) {
        const json::value* given = object.if_contains("type");
        if (schema.type == Type::kIntOrString) {
            if (given != nullptr)
                forbid("type", "must be empty where x-kubernetes-int-or-string is true");
            if (schema.pattern == kQuantityPattern) {
                schema.format = "quantity";
                schema.pattern.clear();
            }
            return;
        }
        if (given == nullptr) {
            // Without a type it can only mean "anything at all", and it must say so.
            if (!schema.preserve_unknown)
                refuse("type", "FieldValueRequired", "Required value: must not be empty");
            schema.type = schema.properties.empty() ? Type::kAny : Type::kObject;
            return;
        }
        const std::string name = text("type", *given);
        if (const std::optional<Type> type = type_named(name))
            schema.type = *type;
        else
            refuse("type", "FieldValueNotSupported",
                   "Unsupported value: \"" + name + "\": supported values: " + known_type_names());
        if (root && schema.type != Type::kObject)
            refuse("type", "FieldValueInvalid",
                   "Invalid value: \"" + name + "\": must be object at the root");
        if (schema.type == Type::kArray && !schema.items)
            refuse("items", "FieldValueRequired", "Required value: must be specified");
        if (!schema.properties.empty() && schema.additional)
            forbid("additionalProperties", "must not be used together with properties");
    }

    void check_list(const Schema& schema) {
        if (schema.list_type == ListType::kAtomic) {
            if (!schema.list_map_keys.empty())
                forbid("x-kubernetes-list-map-keys", "only for x-kubernetes-list-type: map");
            return;
        }
        if (schema.type != Type::kArray)
            return refuse("type", "FieldValueInvalid",
                          "Invalid value: must be array where x-kubernetes-list-type is given");
        if (schema.list_type != ListType::kMap || !schema.items) return;
        if (schema.list_map_keys.empty())
            refuse("x-kubernetes-list-map-keys", "FieldValueRequired",
                   "Required value: must not be empty for x-kubernetes-list-type: map");
        const std::set<std::string_view> required(schema.items->required.begin(),
                                                  schema.items->required.end());
        for (const std::string& key : schema.list_map_keys) {
            const Schema* property = schema.items->property(key);
            if (property == nullptr) {
                refuse("x-kubernetes-list-map-keys", "FieldValueInvalid",
                       "Invalid value: \"" + key + "\": must be a property of the items");
                continue;
            }
            if (property->default_value.is_null() && !required.contains(key))
                refuse("x-kubernetes-list-map-keys", "FieldValueRequired",
                       "Required value: \"" + key + "\" must be required or have a default");
        }
    }

    static void make_resource(Schema& schema) {
        static const Schema::Ptr text = [] {
            auto string = std::make_shared<Schema>();
            string->type = Type::kString;
            return string;
        }();
        schema.properties.insert_or_assign("apiVersion", text);
        schema.properties.insert_or_assign("kind", text);
        schema.properties.insert_or_assign("metadata", core_schema("ObjectMeta"));
    }

    void check_default(const json::object& object, const Schema& schema) {
        if (!object.contains("default") || schema.default_value.is_null()) return;
        FieldPath::Step step(path_, "default");
        for (Cause& cause : validate(schema, schema.default_value, path_.text()))
            causes_.push_back(std::move(cause));
    }

    FieldPath path_;
    SchemaPool* pool_;
    int depth_ = 0;
    std::vector<Cause> causes_;
};

}  // namespace

json::value Schema::to_openapi() const {
    json::object out;
    if (!description.empty()) out.emplace("description", description);
    if (std::string_view name = type_name(type); !name.empty()) out.emplace("type", name);
    if (type == Type::kAny) out.emplace("x-kubernetes-preserve-unknown-fields", true);
    if (type == Type::kIntOrString) out.emplace("x-kubernetes-int-or-string", true);
    if (format == "quantity") {
        out.emplace("pattern", kQuantityPattern);
    } else if (!format.empty()) {
        out.emplace("format", format == kMicroTimeFormat ? std::string_view("date-time")
                                                         : std::string_view(format));
    }
    if (!pattern.empty()) out.emplace("pattern", pattern);
    if (nullable) out.emplace("nullable", true);
    if (preserve_unknown && type != Type::kAny)
        out.emplace("x-kubernetes-preserve-unknown-fields", true);
    if (embedded_resource) out.emplace("x-kubernetes-embedded-resource", true);
    if (!properties.empty()) {
        json::object fields;
        for (const auto& [name, property] : properties)
            fields.emplace(name, property->to_openapi());
        out.emplace("properties", std::move(fields));
    }
    put_strings(out, "required", required);
    if (additional) out.emplace("additionalProperties", additional->to_openapi());
    if (items) out.emplace("items", items->to_openapi());
    if (atomic) out.emplace("x-kubernetes-map-type", "atomic");
    if (list_type != ListType::kAtomic && !repeats) {
        out.emplace("x-kubernetes-list-type", list_type == ListType::kSet ? "set" : "map");
        put_strings(out, "x-kubernetes-list-map-keys", list_map_keys);
    }
    put_strings(out, "enum", enumeration);
    put(out, "minimum", minimum);
    put(out, "maximum", maximum);
    put(out, "minLength", min_length);
    put(out, "maxLength", max_length);
    put(out, "minItems", min_items);
    put(out, "maxItems", max_items);
    put(out, "minProperties", min_properties);
    put(out, "maxProperties", max_properties);
    if (!default_value.is_null()) out.emplace("default", default_value);
    if (!rules.empty()) out.emplace("x-kubernetes-validations", rules_as_openapi(rules));
    if (constraint)
        for (const auto& [key, value] : constraint->openapi) out.insert_or_assign(key, value);
    return out;
}

namespace {

std::pair<Schema::Ptr, std::vector<Cause>> read_whole(const json::value& openapi,
                                                      const std::string& path, SchemaPool* pool) {
    Reader reader(path, pool);
    Schema::Ptr schema = reader.read(openapi, true);
    std::vector<Cause> causes = reader.take();
    if (!causes.empty()) schema = nullptr;
    return {std::move(schema), std::move(causes)};
}

}  // namespace

std::pair<Schema::Ptr, std::vector<Cause>> Schema::from_openapi(const json::value& openapi,
                                                                const std::string& path) {
    return read_whole(openapi, path, nullptr);
}

std::pair<Schema::Ptr, std::vector<Cause>> from_openapi(const json::value& openapi,
                                                        const std::string& path, SchemaPool& pool) {
    return read_whole(openapi, path, &pool);
}

}  // namespace muster::kube
