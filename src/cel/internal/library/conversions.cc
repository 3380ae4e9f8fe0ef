#include <fmt/format.h>

#include <cmath>

#include "base/parse_number.h"
#include "base/utf8.h"
#include "cel/internal/library/addresses.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/numbers_text.h"
#include "cel/internal/time_text.h"

namespace muster::cel {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

std::unexpected<Failure> unreadable(std::string_view type) {
    return failure(fmt::format("type conversion error from 'string' to '{}'", type));
}

Outcome to_int(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<std::int64_t>()) return from;
    if (const auto* number = from.as<std::uint64_t>()) {
        if (*number > static_cast<std::uint64_t>(INT64_MAX)) return failure("integer overflow");
        return static_cast<std::int64_t>(*number);
    }
    if (const auto* number = from.as<double>()) {
        // As cel-go: the ends of the range themselves are no ints.
        if (!(*number > -kTwo63 && *number < kTwo63)) return failure("integer overflow");
        return static_cast<std::int64_t>(*number);
    }
    if (const auto* duration = from.as<Duration>()) return duration->nanoseconds;
    if (const auto* time = from.as<Timestamp>()) return time->seconds;
    if (const Text* text = from.string()) {
        std::string_view digits = text->view();
        if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
        if (const auto number = parse_number<std::int64_t>(digits)) return *number;
        return unreadable("int");
    }
    return no_such_overload();
}

Outcome to_uint(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<std::uint64_t>()) return from;
    if (const auto* number = from.as<std::int64_t>()) {
        if (*number < 0) return failure("unsigned integer overflow");
        return static_cast<std::uint64_t>(*number);
    }
    if (const auto* number = from.as<double>()) {
        if (!(*number >= 0 && *number < kTwo64)) return failure("unsigned integer overflow");
        return static_cast<std::uint64_t>(*number);
    }
    if (const Text* text = from.string()) {
        if (const auto number = parse_number<std::uint64_t>(text->view())) return *number;
        return unreadable("uint");
    }
    return no_such_overload();
}

Outcome to_double(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<double>()) return from;
    if (const auto* number = from.as<std::int64_t>()) return static_cast<double>(*number);
    if (const auto* number = from.as<std::uint64_t>()) return static_cast<double>(*number);
    if (const Text* text = from.string()) {
        if (const auto number = parse_double(text->view())) return *number;
        return unreadable("double");
    }
    return no_such_overload();
}

Outcome to_bool(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<bool>()) return from;
    const Text* text = from.string();
    if (text == nullptr) return no_such_overload();
    const std::string_view word = text->view();
    for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"})
        if (word == yes) return true;
    for (std::string_view no : {"0", "f", "F", "false", "FALSE", "False"})
        if (word == no) return false;
    return unreadable("bool");
}

Outcome to_bytes(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<Bytes>()) return from;
    if (const Text* text = from.string()) return Bytes{*text};
    return no_such_overload();
}

Outcome to_string(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.string()) return from;
    if (const bool* flag = from.as<bool>()) return Value::text(*flag ? "true" : "false");
    if (const auto* number = from.as<std::int64_t>())
        return Value::text(fmt::format("{}", *number));
    if (const auto* number = from.as<std::uint64_t>())
        return Value::text(fmt::format("{}", *number));
    if (const auto* number = from.as<double>()) return Value::text(double_text(*number));
    if (const auto* duration = from.as<Duration>()) return Value::text(duration_text(*duration));
    if (const auto* time = from.as<Timestamp>()) return Value::text(timestamp_text(*time));
    if (const Bytes* bytes = from.as<Bytes>()) {
        if (!is_utf8(bytes->text.view()))
            return failure("invalid UTF-8 in bytes, cannot convert to string");
        return bytes->text;
    }
    if (const auto* address = from.opaque<Address>()) return Value::text(address->text());
    if (const auto* range = from.opaque<AddressRange>()) return Value::text(range->text());
    return no_such_overload();
}

Outcome to_timestamp(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<Timestamp>()) return from;
    if (const auto* seconds = from.as<std::int64_t>()) {
        if (*seconds < kFirstSecond || *seconds > kLastSecond) return failure("timestamp overflow");
        return Timestamp{*seconds, 0};
    }
    if (const Text* text = from.string()) {
        if (const auto time = parse_timestamp(text->view())) return *time;
        return unreadable("google.protobuf.Timestamp");
    }
    return no_such_overload();
}

Outcome to_duration(Arguments arguments) {
    const Value& from = arguments[0];
    if (from.as<Duration>()) return from;
    if (const auto* nanoseconds = from.as<std::int64_t>()) return Duration{*nanoseconds};
    if (const Text* text = from.string()) {
        if (const auto duration = parse_duration(text->view())) return *duration;
        return unreadable("google.protobuf.Duration");
    }
    return no_such_overload();
}

Outcome to_dyn(Arguments arguments) { return arguments[0]; }
Outcome type_of(Arguments arguments) { return TypeName{arguments[0].type_name()}; }

constexpr NamedFunction kFunctions[] = {
    {"int", to_int},           {"uint", to_uint},   {"double", to_double},
    {"bool", to_bool},         {"bytes", to_bytes}, {"string", to_string},
    {"dyn", to_dyn},           {"type", type_of},   {"timestamp", to_timestamp},
    {"duration", to_duration},
};

}  // namespace

std::span<const NamedFunction> conversion_functions() { return kFunctions; }

}  // namespace muster::cel
