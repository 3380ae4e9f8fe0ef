#include "cel/internal/evaluator.h"

#include <fmt/format.h>

#include <cmath>

#include "cel/internal/attributes.h"
#include "cel/internal/call_rules.h"
#include "cel/internal/costs/call_cost.h"
#include "cel/internal/costs/costs.h"
#include "cel/internal/implementations.h"

namespace muster::cel {
namespace {

/// Some tens of milliseconds. An object of 3 MiB has fewer parts.
constexpr std::uint64_t kMostComparisons = 3'000'000;

/// A value that was read, or why it can't be.
Outcome readable(Value value) {
    if (const auto* unreadable = value.as<Value::Unreadable>())
        return std::unexpected(**unreadable);
    return value;
}

std::string key_text(const Value& key) {
    if (const Text* text = key.string()) return std::string(text->view());
    if (const auto* number = key.as<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto* number = key.as<std::uint64_t>()) return fmt::format("{}", *number);
    if (const bool* flag = key.as<bool>()) return *flag ? "true" : "false";
    if (const double* number = key.as<double>()) return fmt::format("{}", *number);
    return key.type_name();
}

/// An optional without a value: what is looked up in it is not looked for.
bool is_none(const Value& value) {
    const auto* optional = value.as<Value::Optional>();
    return optional != nullptr && !(*optional)->has_value();
}

/// The element of that index, nothing if there is none.
std::expected<std::optional<Value>, Failure> element(const List& list, const Value& index) {
    std::optional<std::int64_t> at;
    if (const auto* number = index.as<std::int64_t>()) at = *number;
    if (const auto* number = index.as<std::uint64_t>(); number && *number <= INT64_MAX)
        at = static_cast<std::int64_t>(*number);
    if (const double* number = index.as<double>();
        number && *number == std::trunc(*number) && std::abs(*number) < 9e15)
        at = static_cast<std::int64_t>(*number);
    if (!at && index.as<double>() != nullptr)
        return failure(fmt::format("unsupported index value {} in list", key_text(index)));
    if (!at) return failure(fmt::format("unsupported index type '{}' in list", index.type_name()));
    if (*at < 0 || static_cast<std::uint64_t>(*at) >= list.size()) return std::nullopt;
    return list.at(static_cast<std::size_t>(*at));
}

/// What an element is looked up by: an index, a key, or the name of a field. Nothing is in a value
/// that has no parts.
std::expected<std::optional<Value>, Failure> part(const Value& whole, const Value& key,
                                                  bool field) {
    if (const List* list = whole.list()) return element(*list, key);
    const Map* map = whole.map();
    if (map == nullptr) return std::nullopt;
    return field ? map->field(key.string()->view()) : map->find(key);
}

}  // namespace

Evaluator::Evaluator(std::span<const Binding> variables, std::uint64_t limit)
    : limit_(limit), comparisons_(kMostComparisons) {
    for (const Binding& variable : variables) slots_.push_back({variable.name, variable.value});
}

std::expected<void, Failure> Evaluator::charge(std::uint64_t cost) {
    cost_ += cost;
    if (cost_ > limit_) return cost_limit_exceeded();
    return {};
}

Evaluator::Slot* Evaluator::find(std::string_view name) {
    for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot)
        if (slot->name == name) return &*slot;
    return nullptr;
}

Outcome Evaluator::evaluate(const Expression& expression) {
    if (expression.constant) return *expression.constant;
    return std::visit([&](const auto& node) { return visit(expression, node); }, expression.node);
}

Outcome Evaluator::visit(const Expression&, const Literal& literal) { return literal.value; }

Outcome Evaluator::visit(const Expression&, const Identifier& identifier) {
    if (auto paid = charge(kAccessCost); !paid) return std::unexpected(paid.error());
    Slot* slot = find(identifier.name);
    if (slot == nullptr) return failure("no such attribute(s): " + identifier.name);
    if (identifier.taken) return std::exchange(slot->value, Value());
    return slot->value;
}

/// What something is looked up in: its root has a cost, even if it fails.
Outcome Evaluator::whole(const Expression& expression) {
    Outcome value = evaluate(expression);
    if (is_attribute(expression)) return value;
    if (auto paid = charge(kAccessCost); !paid) return std::unexpected(paid.error());
    return value;
}

/// An index, a branch, or the operand of has(): a part of another attribute, whose root is free.
Outcome Evaluator::part_of_another(const Expression& expression) {
    Outcome value = evaluate(expression);
    if (is_attribute(expression) && !begins_with_conditional(expression)) cost_ -= kAccessCost;
    return value;
}

Outcome Evaluator::look_up(const Value& operand, const Value& key, LookUp how) {
    if (is_none(operand)) return how.test ? Outcome(false) : Outcome(Value::none());
    const auto* optional = operand.as<Value::Optional>();
    const Value& whole = optional ? ***optional : operand;
    const bool may_be_missing = optional != nullptr || how.optional;
    auto found = part(whole, key, how.field);
    const bool present = found && found->has_value();
    if (present || !may_be_missing)
        if (auto paid = charge(kAccessCost); !paid) return std::unexpected(paid.error());
    if (!found) return std::unexpected(found.error());
    if (how.test) return present;
    if (may_be_missing) return present ? Value::some(**found) : Value::none();
    if (present) return readable(**std::move(found));
    return failure(
        fmt::format("{}: {}", whole.list() ? "index out of bounds" : "no such key", key_text(key)));
}

Outcome Evaluator::visit(const Expression&, const Select& select) {
    const Outcome operand = select.test ? part_of_another(*select.operand) : whole(*select.operand);
    if (!operand) return operand;
    return look_up(*operand, Text::of(select.field),
                   {.field = true, .optional = false, .test = select.test});
}

Outcome Evaluator::visit(const Expression& at, const Call& call) {
    const std::string_view function = call.function;
    if (function == "_&&_") return logical(call, false);
    if (function == "_||_") return logical(call, true);
    if (function == "_?_:_") return conditional(call);
    if (function == "or" || function == "orValue") return or_else(call);
    if (function == "_[_]" || function == "_[?_]" || function == "_?._") return access(call);
    if (function == "@not_strictly_false") {
        const Outcome condition = evaluate(*call.arguments[0]);
        if (!condition && condition.error().over_limit) return condition;
        if (auto paid = charge(1); !paid) return std::unexpected(paid.error());
        return !condition || condition->as<bool>() == nullptr || *condition->as<bool>();
    }
    return strict_call(at, call);
}

/// `&&` and `||`: the one side decides, whatever the other one is.
Outcome Evaluator::logical(const Call& call, bool decides) {
    std::optional<Failure> failed;
    for (const ExpressionPtr& term : call.arguments) {
        Outcome value = evaluate(*term);
        if (!value) {
            if (value.error().over_limit) return value;
            if (!failed) failed = std::move(value).error();
            continue;
        }
        const bool* flag = value->as<bool>();
        if (flag == nullptr) {
            if (!failed) failed = no_such_overload().error();
        } else if (*flag == decides) {
            return decides;
        }
    }
    if (failed) return std::unexpected(*std::move(failed));
    return !decides;
}

Outcome Evaluator::conditional(const Call& call) {
    const Outcome condition = evaluate(*call.arguments[0]);
    if (!condition) return condition;
    const bool* flag = condition->as<bool>();
    if (flag == nullptr) return no_such_overload();
    return part_of_another(*call.arguments[*flag ? 1 : 2]);
}

Outcome Evaluator::or_else(const Call& call) {
    Outcome target = evaluate(*call.target);
    if (!target) return target;
    const auto* optional = target->as<Value::Optional>();
    if (optional == nullptr) return no_such_overload();
    if (!(*optional)->has_value()) return evaluate(*call.arguments[0]);
    return call.function == "or" ? target : Outcome(***optional);
}

/// `a[b]`, `a[?b]`, `a.?b`.
Outcome Evaluator::access(const Call& call) {
    const Outcome operand = whole(*call.arguments[0]);
    if (!operand) return operand;
    if (is_none(*operand)) return Value::none();
    const bool optional = call.function != "_[_]";
    const Outcome key = part_of_another(*call.arguments[1]);
    if (key)
        return look_up(*operand, *key,
                       {.field = call.function == "_?._", .optional = optional, .test = false});
    if (!optional && operand->as<Value::Optional>() == nullptr)
        if (auto paid = charge(kAccessCost); !paid) return std::unexpected(paid.error());
    return key;
}

/// All arguments have a value, or the call fails. As in cel-go it is paid for if all were evaluated.
Outcome Evaluator::strict_call(const Expression& at, const Call& call) {
    std::vector<const Expression*> sources;
    if (call.target) sources.push_back(call.target.get());
    for (const ExpressionPtr& argument : call.arguments) sources.push_back(argument.get());

    std::vector<Value> arguments;
    arguments.reserve(sources.size());
    std::optional<Failure> failed;
    for (const Expression* source : sources) {
        if (failed && stops_at_failure(at, call)) return std::unexpected(*std::move(failed));
        Outcome value = evaluate(*source);
        if (!value && value.error().over_limit) return value;
        if (value) {
            arguments.push_back(*std::move(value));
        } else {
            if (!failed) failed = std::move(value).error();
            arguments.emplace_back();
        }
    }
    const std::string_view overload =
        at.overloads.size() == 1 ? at.overloads.front() : std::string_view();
    const bool in_constant = overload == "in_list" && call.arguments[1]->constant;
    if (failed) {
        // Where no element or result is known, its size counts as one.
        const Value unknown;
        const std::uint64_t cost =
            in_constant ? 0 : call_cost(call.function, overload, arguments, &unknown);
        if (auto paid = charge(cost); !paid) return std::unexpected(paid.error());
        return std::unexpected(*std::move(failed));
    }
    if (!call.arguments.empty()) {
        const auto* first = call.arguments[0]->as<Identifier>();
        if (first != nullptr && first->taken) return extend(call, std::move(arguments));
    }
    // The elements of such a list are looked up by a hash.
    if (in_constant) return arguments[1].list()->contains(arguments[0]);
    return carry_out(at, call, overload, arguments);
}

Outcome Evaluator::carry_out(const Expression& at, const Call& call, std::string_view overload,
                             std::span<const Value> arguments) {
    // What grows with its arguments is paid for before it is done; a joined text by its own length.
    const bool by_result = call.function == "join";
    if (!by_result) {
        const std::uint64_t cost = call_cost(call.function, overload, arguments, nullptr);
        if (auto paid = charge(cost); !paid) return std::unexpected(paid.error());
    }
    Outcome result = at.implementation && fit(at, call, arguments) ? at.implementation(arguments)
                                                                   : no_such_overload();
    if (!result && result.error().text == no_such_overload().error().text)
        result = failure(no_overload_for(call, arguments));
    if (comparisons_.is_reached()) return cost_limit_exceeded();
    if (by_result) {
        const Value made = result ? *result : Value();
        const std::uint64_t cost = call_cost(call.function, overload, arguments, &made);
        if (auto paid = charge(cost); !paid) return std::unexpected(paid.error());
    }
    return result;
}

/// Adds to an accumulator, in place if nothing else holds it.
Outcome Evaluator::extend(const Call& call, std::vector<Value> arguments) {
    if (auto paid = charge(1); !paid) return std::unexpected(paid.error());
    if (call.function == "_+_") {
        auto list = *arguments[0].as<std::shared_ptr<const List>>();
        arguments[0] = Value();
        const auto* own = dynamic_cast<const OwnList*>(list.get());
        std::vector<Value> elements;
        if (own != nullptr && list.use_count() == 1) {
            elements = std::move(const_cast<OwnList*>(own)->elements());  // NOLINT: not shared
        } else {
            for (std::size_t i = 0; i < list->size(); ++i) elements.push_back(list->at(i));
        }
        const List& more = *arguments[1].list();
        for (std::size_t i = 0; i < more.size(); ++i) elements.push_back(more.at(i));
        return Value::list(std::move(elements));
    }
    auto map = *arguments[0].as<std::shared_ptr<const Map>>();
    arguments[0] = Value();
    std::shared_ptr<OwnMap> extended;
    if (const auto own = std::dynamic_pointer_cast<const OwnMap>(map);
        own && map.use_count() == 2) {
        extended = std::const_pointer_cast<OwnMap>(own);
    } else {
        extended = std::make_shared<OwnMap>();
        map->for_each([&](const Value& key, const Value& value) {
            extended->insert(key, value);
            return true;
        });
    }
    std::optional<std::string> twice;
    auto insert = [&](const Value& key, const Value& value) {
        if (!extended->insert(key, value)) twice = key_text(key);
        return !twice;
    };
    if (arguments.size() == 3)
        insert(arguments[1], arguments[2]);
    else
        arguments[1].map()->for_each(insert);
    if (twice) return failure(fmt::format("insert failed: key {} already exists", *twice));
    return std::shared_ptr<const Map>(std::move(extended));
}

/// Lists and maps are paid for even if one of their parts fails.
Outcome Evaluator::visit(const Expression&, const MakeList& list) {
    Outcome made = list_of(list);
    if (auto paid = charge(kListCost); !paid) return std::unexpected(paid.error());
    return made;
}

Outcome Evaluator::visit(const Expression&, const MakeMap& map) {
    Outcome made = map_of(map);
    if (auto paid = charge(kMapCost); !paid) return std::unexpected(paid.error());
    return made;
}

Outcome Evaluator::list_of(const MakeList& list) {
    std::vector<Value> elements;
    for (std::size_t i = 0; i < list.elements.size(); ++i) {
        auto element = entry(*list.elements[i], list.optional[i], "list element");
        if (!element) return std::unexpected(element.error());
        if (*element) elements.push_back(**std::move(element));
    }
    return Value::list(std::move(elements));
}

Outcome Evaluator::map_of(const MakeMap& map) {
    auto made = std::make_shared<OwnMap>();
    for (const MakeMap::Entry& each : map.entries) {
        const Outcome key = evaluate(*each.key);
        if (!key) return key;
        auto value = entry(*each.value, each.optional, "entry");
        if (!value) return std::unexpected(value.error());
        if (!hash_text(*key) || key->as<double>() != nullptr)
            return failure(fmt::format("unsupported key type: {}", key->type_name()));
        if (*value) made->set(*key, **std::move(value));
    }
    return std::shared_ptr<const Map>(std::move(made));
}

/// What a part of a list or a map puts there; nothing if it is optional and has no value.
std::expected<std::optional<Value>, Failure> Evaluator::entry(const Expression& source,
                                                              bool optional,
                                                              std::string_view what) {
    Outcome value = evaluate(source);
    if (!value) return std::unexpected(std::move(value).error());
    if (!optional) return *std::move(value);
    if (is_none(*value)) return std::nullopt;
    const auto* held = value->as<Value::Optional>();
    if (held == nullptr)
        return failure(fmt::format("cannot initialize optional {} from non-optional value", what));
    return ***held;
}

Outcome Evaluator::visit(const Expression&, const MakeObject& object) {
    return failure("undeclared reference to '" + object.type + "'");
}

Outcome Evaluator::visit(const Expression&, const Comprehension& fold) {
    const Outcome range = evaluate(*fold.range);
    if (!range) return range;
    Outcome initial = evaluate(*fold.initial);
    if (!initial && initial.error().over_limit) return initial;
    const std::size_t depth = slots_.size();
    slots_.push_back({fold.accumulator, std::move(initial)});
    if (Outcome folded = fold_over(fold, *range); !folded) {
        slots_.resize(depth, Slot{{}, Value()});
        return folded;
    }
    Outcome result = evaluate(*fold.result);
    slots_.resize(depth, Slot{{}, Value()});
    return result;
}

/// The steps; a failure if there can't be a result.
Outcome Evaluator::fold_over(const Comprehension& fold, const Value& range) {
    const std::size_t accumulator = slots_.size() - 1;
    const bool two = !fold.second_variable.empty();
    slots_.push_back({fold.variable, Value()});
    if (two) slots_.push_back({fold.second_variable, Value()});
    Outcome last = true;
    auto next = [&](Value first, Value second) {
        slots_[accumulator + 1].value = std::move(first);
        if (two) slots_[accumulator + 2].value = readable(std::move(second));
        last = step(fold, accumulator);
        return last && *last->as<bool>();
    };
    if (const List* list = range.list()) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            Outcome element = readable(list->at(i));
            if (!element) return element;
            const bool goes_on = two ? next(static_cast<std::int64_t>(i), *std::move(element))
                                     : next(*std::move(element), Value());
            if (!goes_on) break;
        }
    } else if (const Map* map = range.map(); map && map->type_name().empty()) {
        map->for_each(
            [&](const Value& key, const Value& value) { return next(key, two ? value : Value()); });
    } else {
        last = failure("got '" + range.type_name() + "', expected iterable type");
    }
    slots_.resize(accumulator + 1, Slot{{}, Value()});
    return last;
}

/// Whether there is another step. As in cel-go one that fails does not end them, in case that
/// another makes the result good; so that the failure is only one beyond the limit.
Outcome Evaluator::step(const Comprehension& fold, std::size_t accumulator) {
    const Outcome condition = evaluate(*fold.condition);
    if (!condition && condition.error().over_limit) return condition;
    const bool* goes_on = condition ? condition->as<bool>() : nullptr;
    if (goes_on != nullptr && !*goes_on) return false;
    Outcome value = evaluate(*fold.step);
    if (!value && value.error().over_limit) return value;
    slots_[accumulator].value = std::move(value);
    return true;
}

}  // namespace muster::cel
