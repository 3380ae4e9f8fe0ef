#include <cmath>
#include <limits>

#include "cel/internal/library/arguments.h"
#include "cel/internal/time_text.h"

namespace muster::cel {
namespace {

// Arithmetic of each type, with the overflows that cel-go finds (common/types/overflow.go).

std::unexpected<Failure> int_overflow() { return failure("integer overflow"); }
std::unexpected<Failure> uint_overflow() { return failure("unsigned integer overflow"); }

template <class T>
std::unexpected<Failure> overflow() {
    if constexpr (std::same_as<T, std::int64_t>)
        return int_overflow();
    else
        return uint_overflow();
}

template <class T>
Outcome sum_of(T a, T b) {
    T result{};
    if (__builtin_add_overflow(a, b, &result)) return overflow<T>();
    return result;
}
template <class T>
Outcome difference_of(T a, T b) {
    T result{};
    if (__builtin_sub_overflow(a, b, &result)) return overflow<T>();
    return result;
}
template <class T>
Outcome product_of(T a, T b) {
    T result{};
    if (__builtin_mul_overflow(a, b, &result)) return overflow<T>();
    return result;
}
template <class T>
bool overflows(T a, T b) {
    if constexpr (std::same_as<T, std::int64_t>)
        return a == std::numeric_limits<std::int64_t>::min() && b == -1;
    else
        return false;
}
template <class T>
Outcome quotient_of(T a, T b) {
    if (b == 0) return failure("division by zero");
    if (overflows(a, b)) return overflow<T>();
    return a / b;
}
template <class T>
Outcome remainder_of(T a, T b) {
    if (b == 0) return failure("modulus by zero");
    if (overflows(a, b)) return overflow<T>();
    return a % b;
}

Outcome later(Timestamp time, std::int64_t nanoseconds) {
    constexpr std::int64_t kNano = 1'000'000'000;
    std::int64_t seconds = time.seconds + nanoseconds / kNano;
    std::int64_t rest = time.nanoseconds + nanoseconds % kNano;
    if (rest < 0) {
        rest += kNano;
        --seconds;
    } else if (rest >= kNano) {
        rest -= kNano;
        ++seconds;
    }
    if (seconds < kFirstSecond || seconds > kLastSecond) return failure("timestamp overflow");
    return Timestamp{seconds, static_cast<std::int32_t>(rest)};
}

Outcome joined(const Text& a, const Text& b) {
    if (a.view().size() + b.view().size() > kLongestResult) return cost_limit_exceeded();
    std::string text(a.view());
    text += b.view();
    return Value::text(std::move(text));
}

Outcome add(Arguments arguments) {
    const Value& a = arguments[0];
    const Value& b = arguments[1];
    if (const auto* time = a.as<Timestamp>(); time && b.as<Duration>())
        return later(*time, b.as<Duration>()->nanoseconds);
    if (const auto* time = b.as<Timestamp>(); time && a.as<Duration>())
        return later(*time, a.as<Duration>()->nanoseconds);
    if (a.storage().index() != b.storage().index()) return no_such_overload();
    if (const auto* x = a.as<std::int64_t>()) return sum_of(*x, *b.as<std::int64_t>());
    if (const auto* x = a.as<std::uint64_t>()) return sum_of(*x, *b.as<std::uint64_t>());
    if (const auto* x = a.as<double>()) return *x + *b.as<double>();
    if (const auto* x = a.as<Text>()) return joined(*x, *b.as<Text>());
    if (const auto* x = a.as<Bytes>()) {
        Outcome text = joined(x->text, b.as<Bytes>()->text);
        if (!text) return text;
        return Bytes{*text->string()};
    }
    if (const auto* x = a.as<Duration>()) {
        std::int64_t sum = 0;
        if (__builtin_add_overflow(x->nanoseconds, b.as<Duration>()->nanoseconds, &sum))
            return failure("duration overflow");
        return Duration{sum};
    }
    if (const auto* x = a.as<std::shared_ptr<const List>>())
        return (*x)->plus(*x, *b.as<std::shared_ptr<const List>>());
    return no_such_overload();
}

Outcome between(Timestamp a, Timestamp b) {
    __extension__ typedef __int128 Wide;
    const Wide nanoseconds =
        (Wide{a.seconds} - b.seconds) * 1'000'000'000 + (Wide{a.nanoseconds} - b.nanoseconds);
    if (nanoseconds > std::numeric_limits<std::int64_t>::max() ||
        nanoseconds < std::numeric_limits<std::int64_t>::min())
        return failure("duration overflow");
    return Duration{static_cast<std::int64_t>(nanoseconds)};
}

Outcome subtract(Arguments arguments) {
    const Value& a = arguments[0];
    const Value& b = arguments[1];
    if (const auto* time = a.as<Timestamp>(); time && b.as<Duration>()) {
        const std::int64_t back = b.as<Duration>()->nanoseconds;
        if (back == std::numeric_limits<std::int64_t>::min()) return failure("duration overflow");
        return later(*time, -back);
    }
    if (a.storage().index() != b.storage().index()) return no_such_overload();
    if (const auto* x = a.as<std::int64_t>()) return difference_of(*x, *b.as<std::int64_t>());
    if (const auto* x = a.as<std::uint64_t>()) return difference_of(*x, *b.as<std::uint64_t>());
    if (const auto* x = a.as<double>()) return *x - *b.as<double>();
    if (const auto* x = a.as<Timestamp>()) return between(*x, *b.as<Timestamp>());
    if (const auto* x = a.as<Duration>()) {
        std::int64_t difference = 0;
        if (__builtin_sub_overflow(x->nanoseconds, b.as<Duration>()->nanoseconds, &difference))
            return failure("duration overflow");
        return Duration{difference};
    }
    return no_such_overload();
}

Outcome multiply(Arguments arguments) {
    const Value& a = arguments[0];
    const Value& b = arguments[1];
    if (a.storage().index() != b.storage().index()) return no_such_overload();
    if (const auto* x = a.as<std::int64_t>()) return product_of(*x, *b.as<std::int64_t>());
    if (const auto* x = a.as<std::uint64_t>()) return product_of(*x, *b.as<std::uint64_t>());
    if (const auto* x = a.as<double>()) return *x * *b.as<double>();
    return no_such_overload();
}

Outcome divide(Arguments arguments) {
    const Value& a = arguments[0];
    const Value& b = arguments[1];
    if (a.storage().index() != b.storage().index()) return no_such_overload();
    if (const auto* x = a.as<std::int64_t>()) return quotient_of(*x, *b.as<std::int64_t>());
    if (const auto* x = a.as<std::uint64_t>()) return quotient_of(*x, *b.as<std::uint64_t>());
    // Division by zero of doubles is infinity, as IEEE 754 has it.
    if (const auto* x = a.as<double>()) {
        const double divisor = *b.as<double>();
        if (divisor == 0) {
            if (*x == 0 || std::isnan(*x)) return std::numeric_limits<double>::quiet_NaN();
            const bool negative = std::signbit(*x) != std::signbit(divisor);
            return negative ? -std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::infinity();
        }
        return *x / divisor;
    }
    return no_such_overload();
}

Outcome modulo(Arguments arguments) {
    const Value& a = arguments[0];
    const Value& b = arguments[1];
    if (a.storage().index() != b.storage().index()) return no_such_overload();
    if (const auto* x = a.as<std::int64_t>()) return remainder_of(*x, *b.as<std::int64_t>());
    if (const auto* x = a.as<std::uint64_t>()) return remainder_of(*x, *b.as<std::uint64_t>());
    return no_such_overload();
}

Outcome negate(Arguments arguments) {
    if (const auto* x = argument<std::int64_t>(arguments, 0)) {
        if (*x == std::numeric_limits<std::int64_t>::min()) return int_overflow();
        return -*x;
    }
    if (const auto* x = argument<double>(arguments, 0)) return -*x;
    if (const auto* x = argument<Duration>(arguments, 0)) {
        if (x->nanoseconds == std::numeric_limits<std::int64_t>::min())
            return failure("duration overflow");
        return Duration{-x->nanoseconds};
    }
    return no_such_overload();
}

Outcome logical_not(Arguments arguments) {
    const bool* flag = argument<bool>(arguments, 0);
    if (flag == nullptr) return no_such_overload();
    return !*flag;
}

bool is_right_operand(const Value& value) {
    const auto* opaque = value.as<std::shared_ptr<const Opaque>>();
    return !opaque || (*opaque)->is_right_operand_of_equality();
}
Outcome equals(Arguments arguments) {
    if (!is_right_operand(arguments[1]) && arguments[0].as<std::shared_ptr<const Opaque>>())
        return no_such_overload();
    return equal(arguments[0], arguments[1]);
}
Outcome differs(Arguments arguments) {
    return !is_right_operand(arguments[1]) || !equal(arguments[0], arguments[1]);
}

template <class Test>
Outcome ordered(Arguments arguments, Test test) {
    const std::expected<int, Failure> order = compare(arguments[0], arguments[1]);
    if (!order) return std::unexpected(order.error());
    return test(*order);
}
Outcome less(Arguments arguments) {
    return ordered(arguments, [](int order) { return order < 0; });
}
Outcome less_equal(Arguments arguments) {
    return ordered(arguments, [](int order) { return order <= 0; });
}
Outcome greater(Arguments arguments) {
    return ordered(arguments, [](int order) { return order > 0; });
}
Outcome greater_equal(Arguments arguments) {
    return ordered(arguments, [](int order) { return order >= 0; });
}

Outcome contained(Arguments arguments) {
    if (const List* list = arguments[1].list()) return list->contains(arguments[0]);
    if (const Map* map = arguments[1].map()) return map->find(arguments[0]).has_value();
    return no_such_overload();
}

Outcome size(Arguments arguments) {
    const Value& of = arguments[0];
    const bool sized = of.string() || of.as<Bytes>() || of.list() || of.map();
    if (!sized) return no_such_overload();
    return static_cast<std::int64_t>(of.size());
}

constexpr NamedFunction kFunctions[] = {
    {"_+_", add},
    {"_-_", subtract},
    {"_*_", multiply},
    {"_/_", divide},
    {"_%_", modulo},
    {"-_", negate},
    {"!_", logical_not},
    {"_==_", equals},
    {"_!=_", differs},
    {"_<_", less},
    {"_<=_", less_equal},
    {"_>_", greater},
    {"_>=_", greater_equal},
    {"@in", contained},
    {"size", size},
};

}  // namespace

std::span<const NamedFunction> operator_functions() { return kFunctions; }

}  // namespace muster::cel
