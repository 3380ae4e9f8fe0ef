#include "manifest/yaml/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <optional>

#include "base/parse_number.h"

namespace muster::manifest {

namespace {

template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
    return std::ranges::find(words, text) != words.end();
}

constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 12> kNotFinite = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                         ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// FailureKind, base and digits of an integer literal, as Go's strconv takes them with base 0.
struct IntegerText {
    bool negative = false;
    int base = 10;
    std::string_view digits;
};

std::optional<IntegerText> split_integer(std::string_view text) {
    IntegerText parts;
    if (text.starts_with('-') || text.starts_with('+')) {
        parts.negative = text.front() == '-';
        text.remove_prefix(1);
    }
    if (text.empty()) return std::nullopt;
    if (text.size() > 1 && text.front() == '0') {
        char mark = text[1];
        if (mark == 'x' || mark == 'X') parts.base = 16;
        if (mark == 'b' || mark == 'B') parts.base = 2;
        if (mark == 'o' || mark == 'O') parts.base = 8;
        bool marked = parts.base != 10;
        if (!marked) parts.base = 8;
        text.remove_prefix(marked ? 2 : 1);
    }
    auto in_base = [&](char c) {
        int value = is_digit(c)                              ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                             : 99;
        return value < parts.base;
    };
    if (text.empty() || !std::ranges::all_of(text, in_base)) return std::nullopt;
    parts.digits = text;
    return parts;
}

Result<json::value> integer_value(const IntegerText& parts, std::string_view written) {
    const auto magnitude = parse_number<std::uint64_t>(parts.digits, parts.base);
    constexpr std::uint64_t kMinMagnitude = 1ULL << 63;
    if (!magnitude || (parts.negative && *magnitude > kMinMagnitude))
        return Error(
            Code::kInvalid,
            fmt::format("{} does not fit into 64 bits; quote it if it is meant as text", written));
    if (parts.negative) return json::value(static_cast<std::int64_t>(0 - *magnitude));
    if (*magnitude < kMinMagnitude) return json::value(static_cast<std::int64_t>(*magnitude));
    return json::value(*magnitude);
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_float(std::string_view text) {
    auto skip_digits = [&] {
        std::size_t count = 0;
        while (count < text.size() && is_digit(text[count])) ++count;
        text.remove_prefix(count);
        return count > 0;
    };
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    bool whole = skip_digits();
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (!skip_digits() && !whole) return false;
    } else if (!whole) {
        return false;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
        if (!skip_digits()) return false;
    }
    return text.empty();
}

Result<json::value> float_value(std::string_view text) {
    const auto number = parse_number<double>(text.starts_with('+') ? text.substr(1) : text);
    if (!number || !std::isfinite(*number))
        return Error(Code::kInvalid, fmt::format("{} is out of the range of a number", text));
    return json::value(*number);
}

std::string_view type_name(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return "null";
        case json::kind::bool_:
            return "bool";
        case json::kind::int64:
        case json::kind::uint64:
            return "int";
        case json::kind::double_:
            return "float";
        default:
            return "str";
    }
}

}  // namespace

Result<json::value> resolve_plain(std::string_view text) {
    if (one_of(text, kNull)) return json::value(nullptr);
    if (one_of(text, kTrue)) return json::value(true);
    if (one_of(text, kFalse)) return json::value(false);
    if (one_of(text, kNotFinite))
        return Error(
            Code::kInvalid,
            fmt::format("{} is not a number that JSON can hold; quote it if it is meant as text",
                        text));
    char first = text.front();
    if (!is_digit(first) && first != '+' && first != '-' && first != '.') return json::value(text);
    std::string plain(text);
    // Underscores are not removed after a leading dot, upstream's quirk.
    if (first != '.') std::erase(plain, '_');
    if (auto parts = split_integer(plain); parts && first != '.')
        return integer_value(*parts, text);
    if (is_float(plain)) return float_value(plain);
    return json::value(text);
}

Result<json::value> resolve_tagged(std::string_view tag, std::string_view text, bool quoted) {
    constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
    std::string_view type =
        tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : std::string_view();
    if (type == "str" || type == "timestamp") return json::value(text);
    if (type == "binary")
        return Error(Code::kInvalid,
                     "!!binary has no form in JSON; write the base64 text without the tag");
    if (type != "int" && type != "float" && type != "bool" && type != "null")
        return Error(Code::kInvalid, fmt::format("the tag {} is not known; remove it", tag));
    if (quoted && type == "null" && !text.empty())
        return Error(Code::kInvalid, fmt::format("\"{}\" is not of type !!null", text));
    TRY(json::value value, resolve_plain(text));
    if (type == "float" && (value.is_int64() || value.is_uint64()))
        return json::value(value.to_number<double>());
    if (type_name(value) != type)
        return Error(Code::kInvalid, fmt::format("\"{}\" is not of type !!{}", text, type));
    return value;
}

Result<std::string> key_from_value(const json::value& value) {
    if (value.is_null()) return Error(Code::kInvalid, "a key can't be null; write its name");
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_double()) return fmt::format("{}", static_cast<float>(value.get_double()));
    return json::serialize(value);
}

}  // namespace muster::manifest
