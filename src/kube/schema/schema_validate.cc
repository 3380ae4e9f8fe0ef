#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "kube/internal/schema/constraint_check.h"
#include "kube/internal/schema/embedded_resource.h"
#include "kube/internal/schema/pattern_cost.h"
#include "kube/internal/schema/schema_formats.h"
#include "kube/internal/schema/schema_types.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/internal/schema/value_text.h"
#include "kube/schema/correlation.h"
#include "kube/schema/schema.h"

namespace muster::kube {
namespace {

using Type = Schema::Type;

/// The parser refuses deep documents earlier; this guards the walks below (and the destructors of
/// JSON values) against values from elsewhere.
constexpr std::size_t kDeepest = 200;

std::string_view wanted_name(Type type) {
    return type == Type::kIntOrString ? "integer,string" : type_name(type);
}

bool too_deep(const json::value& value, std::size_t depth = 1) {
    if (depth > kDeepest) return true;
    if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array)
            if (item.is_structured() && too_deep(item, depth + 1)) return true;
    } else if (const json::object* object = value.if_object()) {
        for (const auto& entry : *object)
            if (entry.value().is_structured() && too_deep(entry.value(), depth + 1)) return true;
    }
    return false;
}

/// No one reads more of them, and each may be long.
constexpr std::size_t kMostOfAReason = 100;
/// Nor more choices than fit into such a text.
constexpr std::size_t kMostBytesOfChoices = 2000;
/// A schema says more names or values than these only to make each look-up among them long.
constexpr std::size_t kMostLookedThrough = 100;

class Validator {
  public:
    explicit Validator(const std::string& path, const Schema* ruled = nullptr)
        : path_(path), ruled_(ruled) {}

    /// `before`: the stored state of the value, null if there is none that it can be compared with.
    void check(const Schema& schema, const json::value& value, const json::value* before) {
        const std::size_t others = found_.causes.size();
        check_structure(schema, value, before);
        if (schema.constraint && !value.is_null()) check_constraint(schema, value, before);
        if (before != nullptr && found_.causes.size() > others &&
            is_unchanged(schema, value, *before))
            forget_causes(others);
    }

    /// A whole object, something of which always differs from its stored state.
    void check_change(const Schema& schema, const json::value& value, const json::value& before) {
        object_before_ = &before;
        check_structure(schema, value, &before);
        if (schema.constraint) check_constraint(schema, value, &before);
    }

    Inspection take() { return std::move(found_); }

  private:
    void check_structure(const Schema& schema, const json::value& value,
                         const json::value* before) {
        if (schema.type == Type::kAny) return;
        if (value.is_null()) {
            if (!schema.nullable) wrong_type(schema, value);
            return;
        }
        switch (schema.type) {
            case Type::kAny:
                return;
            case Type::kObject:
                check_object(schema, value, before);
                break;
            case Type::kArray:
                check_array(schema, value, before);
                break;
            case Type::kString:
                if (!value.is_string()) return wrong_type(schema, value);
                check_string(schema, value);
                break;
            case Type::kBoolean:
                if (!value.is_bool()) return wrong_type(schema, value);
                break;
            case Type::kInteger:
            case Type::kNumber:
                check_number(schema, value);
                break;
            case Type::kIntOrString:
                check_int_or_string(schema, value);
                break;
        }
    }

    void check_constraint(const Schema& schema, const json::value& value,
                          const json::value* before) {
        // Nor looked for: each of many values may have many alternatives.
        if (told_about("FieldValueInvalid", "") >= kMostOfAReason) return;
        for (Cause& cause : constraints_.check(*schema.constraint, schema, value, before, path_)) {
            std::size_t& told = told_about(cause.reason, cause.field);
            if (told >= kMostOfAReason) continue;
            ++told;
            found_.causes.push_back(std::move(cause));
        }
    }
    /// The causes after the first `kept` are of a part that may be wrong.
    void forget_causes(std::size_t kept) {
        for (std::size_t i = kept; i < found_.causes.size(); ++i)
            --told_about(found_.causes[i].reason, found_.causes[i].field);
        found_.causes.resize(kept);
    }

    /// Whether another cause with this reason is still told. Each reason is, however many there are
    /// of others: callers look for some. Owners are counted apart, since the rules of metadata check
    /// them again.
    bool tells(std::string_view reason) {
        std::size_t& told = told_about(reason, reason == kRequired ? path_.text() : "");
        if (told >= kMostOfAReason) return false;
        ++told;
        return true;
    }
    std::size_t& told_about(std::string_view reason, std::string_view path) {
        const bool owner = reason == kRequired && path.starts_with("metadata.ownerRef");
        return told_[{std::string(reason), owner}];
    }
    void add(std::string_view reason, std::string message) {
        found_.causes.push_back({std::string(reason), std::move(message), path_.text()});
    }
    /// "spec.replicas in body", as the real server's messages name the value.
    std::string place() const {
        std::string path = path_.text();
        return path.empty() ? "body" : path + " in body";
    }
    void invalid(const json::value& value, std::string_view what) {
        if (!tells("FieldValueInvalid")) return;
        add("FieldValueInvalid",
            fmt::format("Invalid value: {}: {} {}", value_text(value), place(), what));
    }
    void wrong_type(const Schema& schema, const json::value& value) {
        if (!tells("FieldValueTypeInvalid")) return;
        std::string message =
            fmt::format("Invalid value: \"{}\": {} must be of type {}: \"{}\"", type_name(value),
                        place(), wanted_name(schema.type), type_name(value));
        // YAML makes numbers and booleans of what people mean as text, mostly in env and labels.
        if (schema.type == Type::kString && (value.is_number() || value.is_bool()))
            message += fmt::format(" (put it in quotes: \"{}\")", value_text(value));
        if (schema.type == Type::kInteger && is_whole_double(value))
            message += fmt::format(" (write it without a fraction or an exponent: {})",
                                   static_cast<std::int64_t>(value.get_double()));
        add("FieldValueTypeInvalid", std::move(message));
    }

    /// A field is compared with its stored state, but for those with rules of their own for changes.
    const json::value* before_of(const Schema& schema, const json::value* before,
                                 std::string_view key) const {
        if (before == nullptr) return nullptr;
        if (key == "metadata" && (schema.embedded_resource || before == object_before_))
            return nullptr;
        if ((key == "kind" || key == "apiVersion") && before == object_before_) return nullptr;
        return old_field(schema, before, key);
    }

    void check_object(const Schema& schema, const json::value& value, const json::value* before) {
        const json::object* object = value.if_object();
        if (object == nullptr) return wrong_type(schema, value);
        const bool outermost = &schema == ruled_ && !within_ruled_;
        within_ruled_ |= outermost;
        if (!within_ruled_) check_required(schema, *object);
        check_fields(schema, value, *object, before);
        if (outermost) within_ruled_ = false;
    }

    void check_required(const Schema& schema, const json::object& object) {
        for (const std::string& name : schema.required) {
            const json::value* field = object.if_contains(name);
            const Schema* known = schema.property(name);
            const bool null_is_value = known != nullptr && known->nullable;
            if (field == nullptr || (field->is_null() && !null_is_value)) {
                FieldPath::Step step(path_, name);
                // Nor looked for: each of many small objects may lack very many.
                if (!tells(kRequired)) break;
                add(kRequired, "Required value");
            }
        }
    }

    void check_fields(const Schema& schema, const json::value& value, const json::object& object,
                      const json::value* before) {
        if (schema.embedded_resource) check_embedded(object);
        if (schema.max_properties && object.size() > *schema.max_properties &&
            tells("FieldValueTooMany"))
            add("FieldValueTooMany", fmt::format("Too many: {}: must have at most {} items",
                                                 object.size(), *schema.max_properties));
        if (schema.min_properties && object.size() < *schema.min_properties)
            invalid(value,
                    fmt::format("should have at least {} properties", *schema.min_properties));
        for (const auto& [key, field] : object) {
            const Schema* known = field_schema(schema, key);
            if (known == nullptr) {
                found_.unknown_fields |= !schema.preserve_unknown;
            } else {
                found_.absent_fields |= counts_as_absent(*known, field);
                if (field.is_null()) continue;
                FieldPath::Step step(path_, key);
                check(*known, field, before_of(schema, before, key));
            }
        }
    }

    void check_embedded(const json::object& object) {
        for (Cause& cause : embedded_problems(object, path_.text()))
            if (tells(cause.reason)) found_.causes.push_back(std::move(cause));
    }

    void check_array(const Schema& schema, const json::value& value, const json::value* before) {
        const json::array* array = value.if_array();
        if (array == nullptr) return wrong_type(schema, value);
        if (schema.max_items && array->size() > *schema.max_items && tells("FieldValueTooMany"))
            add("FieldValueTooMany", fmt::format("Too many: {}: must have at most {} items",
                                                 array->size(), *schema.max_items));
        if (schema.min_items && array->size() < *schema.min_items && tells("FieldValueInvalid"))
            add("FieldValueInvalid",
                fmt::format("Invalid value: {}: {} should have at least {} items", array->size(),
                            place(), *schema.min_items));
        const bool must_be_unique =
            !schema.repeats && array->size() > 1 && schema.list_type != Schema::ListType::kAtomic;
        std::set<std::string> seen;
        const OldElements old(schema, before);
        for (std::size_t index = 0; index < array->size(); ++index) {
            const json::value& item = (*array)[index];
            FieldPath::Step step(path_, index);
            if (schema.items) check(*schema.items, item, old.find(item));
            if (must_be_unique) check_unique(schema, item, seen);
        }
    }

    void check_unique(const Schema& schema, const json::value& item, std::set<std::string>& seen) {
        json::value key;
        if (schema.list_type == Schema::ListType::kSet) {
            key = item;
        } else {
            const json::object* object = item.if_object();
            if (object == nullptr) return;
            json::object& keys = key.emplace_object();
            for (const std::string& name : schema.list_map_keys) {
                const json::value* part = object->if_contains(name);
                const Schema* known = schema.items ? schema.items->property(name) : nullptr;
                if (part == nullptr && known != nullptr && !known->default_value.is_null())
                    part = &known->default_value;
                // A missing key is reported as required, if it is.
                if (part != nullptr)
                    keys.emplace(name, *part);
                else if (schema.list_map_keys.size() > kMostLookedThrough)
                    return;
            }
            if (keys.empty()) return;
        }
        if (!seen.insert(json::serialize(key)).second && tells("FieldValueDuplicate"))
            add("FieldValueDuplicate", "Duplicate value: " + value_text(key));
    }

    bool is_choice(const Schema& schema, std::string_view text) {
        const std::vector<std::string>& all = schema.enumeration;
        if (all.size() <= kMostLookedThrough) return std::ranges::find(all, text) != all.end();
        const auto [found, fresh] = choices_.try_emplace(&schema);
        if (fresh) found->second.insert(all.begin(), all.end());
        return found->second.contains(text);
    }
    static std::string choices_of(const Schema& schema) {
        std::string choices;
        for (const std::string& choice : schema.enumeration) {
            if (!choices.empty()) choices += ", ";
            if (choices.size() > kMostBytesOfChoices) return choices + "...";
            choices += value_text(json::value(choice));
        }
        return choices;
    }

    void check_string(const Schema& schema, const json::value& value) {
        const json::string& text = value.get_string();
        const std::string_view view(text.data(), text.size());
        if (!schema.enumeration.empty() && !is_choice(schema, view) &&
            tells("FieldValueNotSupported"))
            add("FieldValueNotSupported", fmt::format("Unsupported value: {}: supported values: {}",
                                                      value_text(value), choices_of(schema)));
        if (schema.max_length && code_points(view) > *schema.max_length &&
            tells("FieldValueTooLong"))
            add("FieldValueTooLong",
                fmt::format("Too long: may not be more than {} bytes", *schema.max_length));
        if (schema.min_length && code_points(view) < *schema.min_length)
            invalid(value, fmt::format("should be at least {} chars long", *schema.min_length));
        if (!schema.pattern.empty()) check_pattern(schema.pattern, value, view);
        if (!schema.format.empty()) check_format(schema, value);
    }

    void check_pattern(const std::string& pattern, const json::value& value,
                       std::string_view text) {
        const auto regex = Regex::of(pattern);
        pattern_steps_ += pattern_steps(*regex, text);
        if (pattern_steps_ > kMostPatternSteps)
            return invalid(value, fmt::format("was not compared with '{}': that takes too long for "
                                              "so many values",
                                              pattern));
        if (!regex->matches(text)) invalid(value, fmt::format("should match '{}'", pattern));
    }

    void check_format(const Schema& schema, const json::value& value) {
        if (std::string problem = format_problem(schema.format, value); !problem.empty())
            invalid(value, problem);
    }

    void check_number(const Schema& schema, const json::value& value) {
        if (!value.is_number()) return wrong_type(schema, value);
        const bool integer = schema.type == Type::kInteger;
        if (const double* number = value.if_double()) {
            if (!std::isfinite(*number)) {
                if (tells("FieldValueInvalid"))
                    add("FieldValueInvalid",
                        fmt::format("Invalid value: {}: {} must be a finite number", *number,
                                    place()));
                return;
            }
            if (integer && schema.whole_doubles && is_whole_double(value))
                found_.absent_fields = true;
            // 3.0 too: programs that read the object as Go or C++ structs can't accept it.
            else if (integer)
                return wrong_type(schema, value);
        }
        if (integer && is_beyond_integers(schema, value)) return;
        check_range(schema, value);
    }

    /// Upstream reads a number of a definition that does not fit into 64 bits as a real one.
    bool is_beyond_integers(const Schema& schema, const json::value& value) {
        const std::uint64_t* number = value.if_uint64();
        constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
        if (!schema.whole_doubles || number == nullptr || *number <= kMost) return false;
        wrong_type(schema, json::value(static_cast<double>(*number)));
        return true;
    }

    void check_range(const Schema& schema, const json::value& value) {
        // The formats of numbers in definitions are for clients: upstream does not compare with them.
        const bool short_one = schema.format == "int32" && !schema.whole_doubles;
        std::int64_t low = std::numeric_limits<std::int64_t>::min();
        std::int64_t high = std::numeric_limits<std::int64_t>::max();
        if (short_one) {
            low = std::numeric_limits<std::int32_t>::min();
            high = std::numeric_limits<std::int32_t>::max();
        }
        const bool bounded = schema.type != Type::kNumber;
        if (bounded && (below(value, low) || above(value, high))) {
            invalid(value, fmt::format("must fit into {} bits", short_one ? 32 : 64));
            return;
        }
        if (schema.minimum && below(value, *schema.minimum))
            invalid(value, fmt::format("should be greater than or equal to {}", *schema.minimum));
        if (schema.maximum && above(value, *schema.maximum))
            invalid(value, fmt::format("should be less than or equal to {}", *schema.maximum));
    }

    static bool below(const json::value& value, std::int64_t bound) {
        if (const std::int64_t* number = value.if_int64()) return *number < bound;
        if (value.is_uint64()) return false;  // above what int64 holds
        return value.get_double() < static_cast<double>(bound);
    }
    static bool above(const json::value& value, std::int64_t bound) {
        if (const std::int64_t* number = value.if_int64()) return *number > bound;
        if (const std::uint64_t* number = value.if_uint64())
            return bound < 0 || *number > static_cast<std::uint64_t>(bound);
        // 2^63 as a double is the first value beyond the largest bound.
        return bound == std::numeric_limits<std::int64_t>::max()
                   ? value.get_double() >= 9223372036854775808.0
                   : value.get_double() > static_cast<double>(bound);
    }

    void check_int_or_string(const Schema& schema, const json::value& value) {
        if (schema.format == "quantity") {
            // Kubernetes reads a bare 0.5 as a quantity too.
            if (!value.is_string() && !value.is_number()) return wrong_type(schema, value);
            return check_format(schema, value);
        }
        if (value.is_string()) return check_string(schema, value);
        if (schema.whole_doubles && is_whole_double(value)) {
            found_.absent_fields = true;
            return;
        }
        if (!value.is_int64() && !value.is_uint64()) return wrong_type(schema, value);
        if (is_beyond_integers(schema, value)) return;
        check_range(schema, value);
    }

    static constexpr std::string_view kRequired = "FieldValueRequired";

    FieldPath path_;
    Inspection found_;
    /// How many causes there were of each reason, those of owners apart.
    std::map<std::pair<std::string, bool>, std::size_t> told_;
    ConstraintCheck constraints_;
    const json::value* object_before_ = nullptr;  ///< of the whole object
    std::size_t pattern_steps_ = 0;               ///< that comparisons have taken at the worst
    const Schema* ruled_;  ///< the struct whose missing fields are no causes; null: none
    bool within_ruled_ = false;
    /// The values of long enumerations that were looked at.
    std::map<const Schema*, std::unordered_set<std::string_view>> choices_;
};

}  // namespace

std::vector<Cause> validate(const Schema& schema, const json::value& value,
                            const std::string& path) {
    return inspect(schema, value, path).causes;
}

namespace {

std::vector<Cause> nested_too_deeply(const std::string& path) {
    return {{"FieldValueInvalid",
             fmt::format("Invalid value: nested deeper than {} levels", kDeepest), path}};
}

bool is_duplicate(const Cause& cause) { return cause.reason == "FieldValueDuplicate"; }

}  // namespace

Inspection inspect(const Schema& schema, const json::value& value, const std::string& path,
                   const Schema* ruled) {
    if (too_deep(value)) return {nested_too_deeply(path), true, true};
    Validator validator(path, ruled);
    validator.check(schema, value, nullptr);
    return validator.take();
}

std::vector<Cause> validate_change(const Schema& schema, const json::value& value,
                                   const json::value& before) {
    if (too_deep(value) || too_deep(before)) return nested_too_deeply({});
    Validator validator{std::string()};
    validator.check_change(schema, value, before);
    std::vector<Cause> causes = validator.take().causes;
    // Sets and maps may have the same key twice if any of the object had.
    if (std::ranges::any_of(causes, is_duplicate) &&
        std::ranges::any_of(validate(schema, before), is_duplicate))
        std::erase_if(causes, is_duplicate);
    return causes;
}

}  // namespace muster::kube
