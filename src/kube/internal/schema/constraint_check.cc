#include "kube/internal/schema/constraint_check.h"

#include <fmt/format.h>

#include <cmath>

#include "kube/internal/schema/pattern_cost.h"
#include "kube/internal/schema/schema_formats.h"
#include "kube/internal/schema/schema_types.h"
#include "kube/internal/schema/value_text.h"
#include "kube/schema/correlation.h"
#include "kube/values/equality.h"

namespace muster::kube {

namespace {

/// Of parts that only a constraint speaks of.
const Schema kUnknownPart;

}  // namespace

/// What a comparison said. `matches` counts what was compared as kube-openapi counts it: of
/// alternatives that all fail, the causes of the one with the most are told.
struct ConstraintCheck::Found {
    std::vector<Cause> causes;
    int matches = 0;

    bool is_good() const { return causes.empty(); }
    void take(Found other) {
        for (Cause& cause : other.causes) causes.push_back(std::move(cause));
        matches += other.matches;
    }
};

struct ConstraintCheck::Walk {
    std::size_t& left;
    FieldPath& path;

    std::string place() const {
        std::string at = path.text();
        return at.empty() ? "body" : at + " in body";
    }
    void add(Found& found, std::string_view reason, std::string message) const {
        found.causes.push_back({std::string(reason), std::move(message), path.text()});
    }
    void invalid(Found& found, std::string_view value, std::string_view what) const {
        add(found, "FieldValueInvalid",
            fmt::format("Invalid value: {}: {} {}", value, place(), what));
    }
    /// About the alternatives as a whole: as upstream, it names no field.
    void broken(Found& found, std::string_view what) const {
        found.causes.push_back({"FieldValueInvalid",
                                fmt::format("Invalid value: \"\": \"{}\" {}", path.text(), what),
                                "<nil>"});
    }
    bool spend(std::size_t cost) const {
        left -= std::min(left, cost);
        return left > 0;
    }

    Found junctors(const SchemaConstraint& all, const Schema& structure, const json::value& value,
                   const json::value* before) const {
        Found found;
        any_of(all, structure, value, before, found);
        one_of(all, structure, value, before, found);
        if (!all.all_of.empty()) {
            std::size_t good = 0;
            for (const auto& part : all.all_of) {
                Found one = compare(*part, structure, value, before);
                good += one.is_good() ? 1 : 0;
                found.take(std::move(one));
            }
            if (good != all.all_of.size())
                broken(found, fmt::format("must validate all the schemas (allOf){}",
                                          good == 0 ? ". None validated" : ""));
        }
        if (all.none_of && compare(*all.none_of, structure, value, before).is_good())
            broken(found, "must not validate the schema (not)");
        ++found.matches;
        return found;
    }
    void any_of(const SchemaConstraint& all, const Schema& structure, const json::value& value,
                const json::value* before, Found& found) const {
        if (all.any_of.empty()) return;
        std::optional<Found> best;
        for (const auto& part : all.any_of) {
            Found one = compare(*part, structure, value, before);
            if (one.is_good()) return found.take(std::move(one));
            if (!best || one.matches > best->matches) best = std::move(one);
        }
        broken(found, "must validate at least one schema (anyOf)");
        found.take(*std::move(best));
    }
    void one_of(const SchemaConstraint& all, const Schema& structure, const json::value& value,
                const json::value* before, Found& found) const {
        if (all.one_of.empty()) return;
        std::optional<Found> best;
        std::optional<Found> first;
        int good = 0;
        for (const auto& part : all.one_of) {
            Found one = compare(*part, structure, value, before);
            if (one.is_good()) {
                if (++good == 1) first = std::move(one);
            } else if (good == 0 && (!best || one.matches > best->matches)) {
                best = std::move(one);
            }
        }
        if (good == 1) return found.take(*std::move(first));
        broken(found, fmt::format("must validate one and only one schema (oneOf). {}",
                                  good == 0 ? "Found none valid"
                                            : fmt::format("Found {} valid alternatives", good)));
        if (good == 0) found.take(*std::move(best));
    }

    Found compare(const SchemaConstraint& wanted, const Schema& structure, const json::value& value,
                  const json::value* before) const {
        Found found;
        if (!spend(1)) {
            invalid(found, value_text(value), "was not compared: other values take too long");
            return found;
        }
        if (value.is_null()) {
            check_choices(wanted, value, found);
            found.matches = 1;
            return found;
        }
        if (!wanted.type.empty()) check_type(wanted, value, found);
        found.take(junctors(wanted, structure, value, before));
        if (value.is_string()) check_text(wanted, value, found);
        if (value.is_number()) check_number(wanted, value, found);
        if (const json::array* list = value.if_array())
            check_list(wanted, structure, *list, before, found);
        check_choices(wanted, value, found);
        if (const json::object* object = value.if_object())
            check_object(wanted, structure, *object, before, found);
        found.matches += value.is_string() && !wanted.format.empty() ? 5 : 4;
        return found;
    }

    void check_type(const SchemaConstraint& wanted, const json::value& value, Found& found) const {
        const std::string_view is = type_name(value);
        ++found.matches;
        if (is == wanted.type) {
            ++found.matches;
            return;
        }
        add(found, "FieldValueTypeInvalid",
            fmt::format("Invalid value: \"{}\": {} must be of type {}: \"{}\"", is, place(),
                        wanted.type, is));
    }

    void check_text(const SchemaConstraint& wanted, const json::value& value, Found& found) const {
        const json::string& string = value.get_string();
        const std::string_view text(string.data(), string.size());
        const auto regex = wanted.pattern.empty() ? nullptr : Regex::of(wanted.pattern);
        constexpr std::size_t kPatternCost = 10;
        constexpr std::size_t kStepsOfOne = kMostPatternSteps / kMostCompared;
        if (!spend(text.size() / 16 +
                   (regex ? kPatternCost + pattern_steps(*regex, text) / kStepsOfOne : 0)))
            return invalid(found, "\"\"", "was not compared");
        if (wanted.max_length && code_points(text) > *wanted.max_length)
            add(found, "FieldValueTooLong",
                fmt::format("Too long: may not be more than {} bytes", *wanted.max_length));
        else if (wanted.min_length && code_points(text) < *wanted.min_length)
            invalid(found, value_text(value),
                    fmt::format("should be at least {} chars long", *wanted.min_length));
        else if (regex && !regex->matches(text))
            invalid(found, value_text(value), fmt::format("should match '{}'", wanted.pattern));
        if (wanted.format.empty()) return;
        if (const std::string problem = format_problem(wanted.format, value); !problem.empty())
            invalid(found, value_text(value), problem);
    }

    /// Upstream compares a whole number with limits as whole numbers, whatever their fraction is.
    void check_number(const SchemaConstraint& wanted, const json::value& value,
                      Found& found) const {
        const bool whole = !value.is_double();
        const auto number = value.to_number<double>();
        auto as_compared = [whole](double limit) { return whole ? std::trunc(limit) : limit; };
        if (wanted.multiple_of) {
            const double factor = as_compared(*wanted.multiple_of);
            if (factor <= 0)
                add(found, "FieldValueInvalid",
                    fmt::format("Invalid value: {}: factor MultipleOf declared for {} must be "
                                "positive: {}",
                                factor, path.text(), factor));
            else if (!is_multiple(value, number, factor))
                invalid(found, value_text(value),
                        fmt::format("should be a multiple of {}", factor));
        }
        if (wanted.minimum) {
            const double limit = as_compared(wanted.minimum->value);
            const bool excludes = wanted.minimum->exclusive;
            if (excludes ? number <= limit : number < limit)
                invalid(found, value_text(value),
                        fmt::format("should be greater than {}{}", excludes ? "" : "or equal to ",
                                    limit));
        }
        if (wanted.maximum) {
            const double limit = as_compared(wanted.maximum->value);
            const bool excludes = wanted.maximum->exclusive;
            if (excludes ? number >= limit : number > limit)
                invalid(
                    found, value_text(value),
                    fmt::format("should be less than {}{}", excludes ? "" : "or equal to ", limit));
        }
        ++found.matches;
        ++found.matches;
    }
    static bool is_multiple(const json::value& value, double number, double factor) {
        constexpr double kMostWhole = 9e18;
        if (const std::int64_t* whole = value.if_int64(); whole && factor < kMostWhole)
            return *whole % static_cast<std::int64_t>(factor) == 0;
        const double times = factor < 1 ? 1 / factor * number : number / factor;
        constexpr double kNearly = 1e-9;
        return std::isfinite(times) && std::fabs(times - std::round(times)) < kNearly;
    }

    void check_choices(const SchemaConstraint& wanted, const json::value& value,
                       Found& found) const {
        if (wanted.enumeration.empty()) return;
        if (!spend(wanted.enumeration.size())) return invalid(found, "\"\"", "was not compared");
        std::string choices;
        constexpr std::size_t kMostBytes = 2000;
        for (const json::value& choice : wanted.enumeration) {
            if (equal(choice, value)) return;
            if (choices.size() > kMostBytes) continue;
            if (!choices.empty()) choices += ", ";
            choices += choice.is_string() ? value_text(choice)
                                          : value_text(json::value(value_text(choice)));
        }
        add(found, "FieldValueNotSupported",
            fmt::format("Unsupported value: {}: supported values: {}", value_text(value), choices));
    }

    void check_list(const SchemaConstraint& wanted, const Schema& structure,
                    const json::array& list, const json::value* before, Found& found) const {
        if (wanted.items) {
            const OldElements old(structure, before);
            for (std::size_t i = 0; i < list.size(); ++i) {
                FieldPath::Step step(path, i);
                found.take(below(*wanted.items, structure.items ? *structure.items : kUnknownPart,
                                 list[i], old.find(list[i])));
            }
        }
        if (wanted.min_items && list.size() < *wanted.min_items)
            invalid(found, std::to_string(list.size()),
                    fmt::format("should have at least {} items", *wanted.min_items));
        if (wanted.max_items && list.size() > *wanted.max_items)
            too_many(found, list.size(), *wanted.max_items);
        found.matches += 2;
    }
    void too_many(Found& found, std::size_t is, std::size_t most) const {
        add(found, "FieldValueTooMany",
            fmt::format("Too many: {}: must have at most {} items", is, most));
    }

    void check_object(const SchemaConstraint& wanted, const Schema& structure,
                      const json::object& object, const json::value* before, Found& found) const {
        if (wanted.min_properties && object.size() < *wanted.min_properties)
            invalid(found, std::to_string(object.size()),
                    fmt::format("should have at least {} properties", *wanted.min_properties));
        if (wanted.max_properties && object.size() > *wanted.max_properties)
            too_many(found, object.size(), *wanted.max_properties);
        for (const auto& [name, property] : wanted.properties) {
            const json::value* field = object.if_contains(name);
            const Schema* known = structure.property(name);
            if (field == nullptr) continue;
            FieldPath::Step step(path, name);
            found.take(below(*property, known ? *known : kUnknownPart, *field,
                             old_field(structure, before, name)));
        }
        for (const std::string& name : wanted.required) {
            if (object.contains(name)) continue;
            FieldPath::Step step(path, name);
            add(found, "FieldValueRequired", "Required value");
        }
        ++found.matches;
    }
    /// A part of a value, which may be wrong if it was.
    Found below(const SchemaConstraint& wanted, const Schema& structure, const json::value& value,
                const json::value* before) const {
        Found found = compare(wanted, structure, value, before);
        if (!found.is_good() && before != nullptr && is_unchanged(structure, value, *before))
            found.causes.clear();
        return found;
    }
};

std::vector<Cause> ConstraintCheck::check(const SchemaConstraint& constraint,
                                          const Schema& structure, const json::value& value,
                                          const json::value* before, FieldPath& path) {
    return Walk{left_, path}.compare(constraint, structure, value, before).causes;
}

}  // namespace muster::kube
