#include "cel/internal/library/arguments.h"

namespace muster::cel {
namespace {

/// Empty texts and lists, zeros, false and null.
bool is_zero(const Value& value) {
    if (value.is_null()) return true;
    if (const bool* flag = value.as<bool>()) return !*flag;
    if (const auto* number = value.as<std::int64_t>()) return *number == 0;
    if (const auto* number = value.as<std::uint64_t>()) return *number == 0;
    if (const double* number = value.as<double>()) return *number == 0;
    if (const auto* duration = value.as<Duration>()) return duration->nanoseconds == 0;
    if (const auto* held = value.as<Value::Optional>()) return !(*held)->has_value();
    if (value.string() || value.as<Bytes>() || value.list() || value.map())
        return value.size() == 0;
    return false;
}

Outcome of(Arguments arguments) { return Value::some(arguments[0]); }
Outcome of_non_zero(Arguments arguments) {
    return is_zero(arguments[0]) ? Value::none() : Value::some(arguments[0]);
}
Outcome none(Arguments) { return Value::none(); }

Outcome value(Arguments arguments) {
    const auto* held = argument<Value::Optional>(arguments, 0);
    if (held == nullptr) return no_such_overload();
    if (!(*held)->has_value()) return failure("optional.none() dereference");
    return ***held;
}
Outcome has_value(Arguments arguments) {
    const auto* held = argument<Value::Optional>(arguments, 0);
    if (held == nullptr) return no_such_overload();
    return (*held)->has_value();
}

Outcome unwrap(Arguments arguments) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    std::vector<Value> values;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Value element = list->at(i);
        const auto* held = element.as<Value::Optional>();
        if (held == nullptr) return no_such_overload();
        if ((*held)->has_value()) values.push_back(***held);
    }
    return Value::list(std::move(values));
}

constexpr NamedFunction kFunctions[] = {
    {"optional.of", of},     {"optional.ofNonZeroValue", of_non_zero},
    {"optional.none", none}, {"value", value},
    {"hasValue", has_value}, {"optional.unwrap", unwrap},
    {"unwrapOpt", unwrap},
};

}  // namespace

std::span<const NamedFunction> optional_functions() { return kFunctions; }

}  // namespace muster::cel
