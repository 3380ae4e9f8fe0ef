#include "kube/internal/schema/constraint_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kube/internal/schema/pattern_cost.h"
#include "kube/values/field_path.h"

namespace muster::kube {
namespace {

/// A limit that Schema can't keep: it is exclusive, or has a fraction.
bool is_special_limit(const json::object& openapi, std::string_view limit,
                      std::string_view exclusive) {
    const json::value* value = openapi.if_contains(limit);
    if (value == nullptr || !value->is_number()) return false;
    const json::value* excludes = openapi.if_contains(exclusive);
    if (excludes != nullptr && excludes->is_bool() && excludes->get_bool()) return true;
    const double* number = value->if_double();
    return number != nullptr && (std::trunc(*number) != *number || std::fabs(*number) > 9e15);
}

bool has_other_than_texts(const json::value* choices) {
    const json::array* list = choices == nullptr ? nullptr : choices->if_array();
    return list != nullptr && std::ranges::any_of(*list, [](const json::value& choice) {
               return !choice.is_string();
           });
}

/// [{"type": "integer"}, {"type": "string"}], the usual spelling of what can be both.
bool is_int_or_string(const json::value* any_of) {
    static const json::value kUsual =
        json::array{json::object{{"type", "integer"}}, json::object{{"type", "string"}}};
    return any_of != nullptr && *any_of == kUsual;
}

class ConstraintReader {
  public:
    ConstraintReader(bool complete, FieldPath& path, std::vector<Cause>& causes)
        : complete_(complete), path_(path), causes_(causes) {}

    SchemaConstraint::Ptr own(const json::object& openapi, const Schema& structure) {
        SchemaConstraint made;
        for (const auto& [key, value] : openapi) {
            if (!is_constraint_field(openapi, key)) continue;
            made.openapi.emplace(key, value);
            if (key == "anyOf" && is_int_or_string(&value))
                made.any_of = usual_alternatives();
            else
                read_field(openapi, key, value, &structure, path_.text(), made);
        }
        if (made.openapi.empty()) return nullptr;
        return std::make_shared<const SchemaConstraint>(std::move(made));
    }

  private:
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

    static std::vector<SchemaConstraint::Ptr> usual_alternatives() {
        std::vector<SchemaConstraint::Ptr> alternatives;
        for (const char* type : {"integer", "string"}) {
            SchemaConstraint one;
            one.type = type;
            alternatives.push_back(std::make_shared<const SchemaConstraint>(std::move(one)));
        }
        return alternatives;
    }

    /// A part of a constraint. `structure` is what the schema says of such a value, null if it does
    /// not know it; `structure_path` is where.
    SchemaConstraint::Ptr nested(const json::value& value, const Schema* structure,
                                 const std::string& structure_path, bool may_be_usual = false) {
        const json::object* openapi = value.if_object();
        if (openapi == nullptr) {
            mistyped({}, "an object");
            return nullptr;
        }
        static const Schema kUnknown;
        if (structure == nullptr && !complete_) structure = &kUnknown;
        if (structure == nullptr) {
            causes_.push_back({"FieldValueRequired",
                               "Required value: because it is defined in " + path_.text(),
                               structure_path});
            return nullptr;
        }
        SchemaConstraint made;
        for (const auto& [key, field] : *openapi) {
            if (field.is_null()) continue;
            if (may_be_usual && key == "anyOf" && is_int_or_string(&field))
                made.any_of = usual_alternatives();
            else
                read_field(*openapi, key, field, structure, structure_path, made);
        }
        return std::make_shared<const SchemaConstraint>(std::move(made));
    }

    void read_field(const json::object& openapi, std::string_view key, const json::value& value,
                    const Schema* structure, const std::string& structure_path,
                    SchemaConstraint& made) {
        if (key == "allOf") {
            made.all_of = list(key, value, structure, structure_path);
        } else if (key == "anyOf") {
            made.any_of = list(key, value, structure, structure_path);
        } else if (key == "oneOf") {
            made.one_of = list(key, value, structure, structure_path);
        } else if (key == "not") {
            FieldPath::Step step(path_, key);
            made.none_of = nested(value, structure, structure_path);
        } else if (key == "items") {
            FieldPath::Step step(path_, key);
            made.items = nested(value, structure->items.get(), child_path(structure_path, key));
        } else if (key == "properties") {
            read_properties(value, *structure, structure_path, made);
        } else if (key == "enum") {
            if (const json::array* choices = value.if_array())
                made.enumeration.assign(choices->begin(), choices->end());
            else
                mistyped(key, "a list");
        } else if (key == "required") {
            made.required = texts(key, value);
        } else if (key == "pattern") {
            made.pattern = text(key, value);
            if (const std::string problem = pattern_problem(made.pattern); !problem.empty())
                refuse(key, "FieldValueInvalid", problem);
        } else if (key == "format") {
            made.format = text(key, value);
        } else {
            read_limit(openapi, key, value, made);
        }
    }

    void read_limit(const json::object& openapi, std::string_view key, const json::value& value,
                    SchemaConstraint& made) {
        if (key == "minimum") {
            if (const auto limit = number(key, value))
                made.minimum = {*limit, is_true(openapi.if_contains("exclusiveMinimum"))};
        } else if (key == "maximum") {
            if (const auto limit = number(key, value))
                made.maximum = {*limit, is_true(openapi.if_contains("exclusiveMaximum"))};
        } else if (key == "multipleOf") {
            made.multiple_of = number(key, value);
        } else if (key == "exclusiveMinimum" || key == "exclusiveMaximum") {
            if (!value.is_bool()) mistyped(key, "true or false");
        } else if (key == "minLength") {
            made.min_length = size(key, value);
        } else if (key == "maxLength") {
            made.max_length = size(key, value);
        } else if (key == "minItems") {
            made.min_items = size(key, value);
        } else if (key == "maxItems") {
            made.max_items = size(key, value);
        } else if (key == "minProperties") {
            made.min_properties = size(key, value);
        } else if (key == "maxProperties") {
            made.max_properties = size(key, value);
        } else {
            refuse_field(key, value);
        }
    }

    void refuse_field(std::string_view key, const json::value& value) {
        struct Rule {
            std::string_view key;
            std::string_view wanted;
        };
        static constexpr std::array<Rule, 13> kNotNested{
            {{"type", "empty"},
             {"additionalProperties", "undefined"},
             {"default", "undefined"},
             {"title", "empty"},
             {"description", "empty"},
             {"nullable", "false"},
             {"x-kubernetes-preserve-unknown-fields", "false"},
             {"x-kubernetes-embedded-resource", "false"},
             {"x-kubernetes-int-or-string", "false"},
             {"x-kubernetes-list-map-keys", "empty"},
             {"x-kubernetes-list-type", "undefined"},
             {"x-kubernetes-map-type", "undefined"},
             {"x-kubernetes-validations", "empty"}}};
        const auto rule = std::ranges::find(kNotNested, key, &Rule::key);
        if (rule != kNotNested.end()) {
            const bool says_nothing = value.is_bool() ? !value.get_bool() && rule->wanted == "false"
                                      : value.is_string()
                                          ? value.get_string().empty()
                                          : value.is_array() && value.get_array().empty();
            if (!says_nothing)
                forbid(key, fmt::format("must be {} to be structural", rule->wanted));
        } else if (key == "uniqueItems") {
            if (is_true(&value)) forbid(key, "must not be true; use x-kubernetes-list-type: set");
        } else if (key != "example" && key != "externalDocs") {
            forbid(key, "must not be used in a structural schema");
        }
    }

    void read_properties(const json::value& value, const Schema& structure,
                         const std::string& structure_path, SchemaConstraint& made) {
        FieldPath::Step step(path_, "properties");
        const json::object* object = value.if_object();
        if (object == nullptr) return mistyped({}, "an object");
        const std::string inner = child_path(structure_path, "properties");
        for (const auto& [name, field] : *object) {
            FieldPath::Step below(path_, name);
            if (name == "metadata") forbid({}, "must not be specified in a nested context");
            made.properties.emplace(
                name, nested(field, structure.property(name), child_path(inner, name)));
        }
    }

    std::vector<SchemaConstraint::Ptr> list(std::string_view key, const json::value& value,
                                            const Schema* structure,
                                            const std::string& structure_path) {
        std::vector<SchemaConstraint::Ptr> parts;
        FieldPath::Step step(path_, key);
        const json::array* array = value.if_array();
        if (array == nullptr) {
            mistyped({}, "a list");
            return parts;
        }
        for (std::size_t i = 0; i < array->size(); ++i) {
            FieldPath::Step element(path_, i);
            const bool may_be_usual = key == "allOf" && i == 0;
            if (SchemaConstraint::Ptr part =
                    nested((*array)[i], structure, structure_path, may_be_usual))
                parts.push_back(std::move(part));
        }
        return parts;
    }

    static bool is_true(const json::value* value) {
        return value != nullptr && value->is_bool() && value->get_bool();
    }
    std::string text(std::string_view key, const json::value& value) {
        if (const json::string* string = value.if_string())
            return std::string(string->data(), string->size());
        mistyped(key, "a string");
        return {};
    }
    std::vector<std::string> texts(std::string_view key, const json::value& value) {
        std::vector<std::string> all;
        const json::array* array = value.if_array();
        if (array == nullptr) {
            mistyped(key, "a list of strings");
            return all;
        }
        for (const json::value& item : *array) all.push_back(text(key, item));
        return all;
    }
    std::optional<double> number(std::string_view key, const json::value& value) {
        if (value.is_number()) return value.to_number<double>();
        mistyped(key, "a number");
        return std::nullopt;
    }
    std::optional<std::size_t> size(std::string_view key, const json::value& value) {
        const std::int64_t* whole = value.if_int64();
        if (whole != nullptr && *whole >= 0) return static_cast<std::size_t>(*whole);
        mistyped(key, "a whole number, zero or more");
        return std::nullopt;
    }

    bool complete_;  ///< the structure has to know everything
    FieldPath& path_;
    std::vector<Cause>& causes_;
};

}  // namespace

bool is_constraint_field(const json::object& openapi, std::string_view key) {
    const json::value* value = openapi.if_contains(key);
    if (value == nullptr || value->is_null()) return false;
    if (key == "minimum" || key == "exclusiveMinimum")
        return is_special_limit(openapi, "minimum", "exclusiveMinimum");
    if (key == "maximum" || key == "exclusiveMaximum")
        return is_special_limit(openapi, "maximum", "exclusiveMaximum");
    if (key == "enum") return has_other_than_texts(value);
    return key == "allOf" || key == "anyOf" || key == "oneOf" || key == "not" ||
           key == "multipleOf";
}

SchemaConstraint::Ptr read_constraint(const json::object& openapi, const Schema& structure,
                                      bool root, FieldPath& path, std::vector<Cause>& causes) {
    return ConstraintReader(root, path, causes).own(openapi, structure);
}

}  // namespace muster::kube
