#include <cctype>
#include <cmath>
#include <string>

#include "cel/internal/library/arguments.h"
#include "cel/internal/library/comparisons.h"
#include "cel/internal/library/quantity_amount.h"
#include "kube/values/quantity.h"

namespace muster::cel {
namespace {

using kube::Quantity;

class QuantityValue final : public Opaque {
  public:
    QuantityValue(Quantity quantity, QuantityAmount amount, bool is_sum)
        : quantity_(quantity), amount_(amount), is_sum_(is_sum) {}
    std::string_view type_name() const override { return "kubernetes.Quantity"; }
    std::string content() const override { return quantity_.to_string(); }
    bool is_right_operand_of_equality() const override { return !is_sum_; }
    const Quantity& get() const { return quantity_; }
    const QuantityAmount& amount() const { return amount_; }

  private:
    Quantity quantity_;
    QuantityAmount amount_;
    bool is_sum_;
};

Value value_of(Quantity quantity, QuantityAmount amount, bool is_sum) {
    return std::shared_ptr<const Opaque>(std::make_shared<QuantityValue>(quantity, amount, is_sum));
}
const QuantityValue* value_at(Arguments arguments, std::size_t index) {
    return index < arguments.size() ? arguments[index].opaque<QuantityValue>() : nullptr;
}
const Quantity* quantity_at(Arguments arguments, std::size_t index) {
    const QuantityValue* value = value_at(arguments, index);
    return value ? &value->get() : nullptr;
}

/// Upstream takes a quantity without digits ("Ki", ".", "-") for zero. In manifests that is a
/// mistake; rules are as strict as upstream's.
Result<Quantity> parse(std::string_view text) {
    std::string_view unit = text;
    if (unit.starts_with('+') || unit.starts_with('-')) unit.remove_prefix(1);
    if (unit.starts_with('.')) unit.remove_prefix(1);
    const bool no_digits =
        !text.empty() && (unit.empty() || std::isalpha(static_cast<unsigned char>(unit[0])));
    return Quantity::parse(no_digits ? "0" + std::string(unit) : std::string(text));
}

/// Why a text can't be read, in upstream's words.
std::string_view problem_of(std::string_view text) {
    const auto skip = [&](std::string_view characters) {
        text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
    };
    constexpr std::string_view kForm =
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    if (text.empty()) return kForm;
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    skip("0123456789");
    if (text.starts_with('.')) text.remove_prefix(1);
    skip("0123456789");
    skip("eEinumkKMGTP");
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    skip("0123456789");
    return text.empty() ? "unable to parse quantity's suffix" : kForm;
}

Outcome quantity(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    const Result<Quantity> parsed = parse(text->view());
    if (!parsed) return failure(std::string(problem_of(text->view())));
    return value_of(*parsed, QuantityAmount::of_text(text->view()), false);
}
Outcome is_quantity(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    return parse(text->view()).has_value();
}
Outcome sign(Arguments arguments) {
    const Quantity* quantity = quantity_at(arguments, 0);
    if (quantity == nullptr) return no_such_overload();
    if (quantity->is_zero()) return std::int64_t{0};
    return std::int64_t{quantity->is_negative() ? -1 : 1};
}
Outcome as_float(Arguments arguments) {
    const QuantityValue* value = value_at(arguments, 0);
    if (value == nullptr) return no_such_overload();
    // Multiplied as upstream does it; a division would round otherwise.
    const int scale = value->amount().scale();
    return value->get().approximate_multiple(scale) * std::pow(10.0, scale);
}
Outcome as_integer(Arguments arguments) {
    const QuantityValue* value = value_at(arguments, 0);
    if (value == nullptr) return no_such_overload();
    const std::optional<std::int64_t> integer = value->amount().integer();
    if (!integer) return failure("cannot convert value to integer");
    return *integer;
}
Outcome is_integer(Arguments arguments) {
    const QuantityValue* value = value_at(arguments, 0);
    if (value == nullptr) return no_such_overload();
    return value->amount().integer().has_value();
}

/// The second argument of a sum: a quantity, or whole units.
std::optional<QuantityValue> summand(Arguments arguments) {
    if (const QuantityValue* value = value_at(arguments, 1)) return *value;
    if (const auto* units = argument<std::int64_t>(arguments, 1))
        return QuantityValue(Quantity::from_units(*units, Quantity::Format::kDecimalExponent),
                             QuantityAmount::of_units(*units), false);
    return std::nullopt;
}
Outcome add(Arguments arguments) {
    const QuantityValue* value = value_at(arguments, 0);
    const std::optional<QuantityValue> other = summand(arguments);
    if (value == nullptr || !other) return no_such_overload();
    return value_of(value->get() + other->get(), value->amount().plus(other->amount()), true);
}
Outcome sub(Arguments arguments) {
    const QuantityValue* value = value_at(arguments, 0);
    const std::optional<QuantityValue> other = summand(arguments);
    if (value == nullptr || !other) return no_such_overload();
    return value_of(value->get() - other->get(), value->amount().minus(other->amount()), true);
}

constexpr NamedFunction kFunctions[] = {
    {"quantity", quantity},
    {"isQuantity", is_quantity},
    {"sign", sign},
    {"asApproximateFloat", as_float},
    {"asInteger", as_integer},
    {"isInteger", is_integer},
    {"add", add},
    {"sub", sub},
};

}  // namespace

std::span<const NamedFunction> quantity_functions() { return kFunctions; }

std::optional<int> compare_quantities(const Value& a, const Value& b) {
    const auto* x = a.opaque<QuantityValue>();
    const auto* y = b.opaque<QuantityValue>();
    if (x == nullptr || y == nullptr) return std::nullopt;
    if (x->get() == y->get()) return 0;
    return x->get() < y->get() ? -1 : 1;
}

}  // namespace muster::cel
