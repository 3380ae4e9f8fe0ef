#include "workers/warm/messages.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace muster::workers {

namespace json = boost::json;

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kLargest = std::size_t{8} << 20;
constexpr std::size_t kLengthBytes = 4;

/// The number of bytes of the character that begins there; 0 if it is not UTF-8.
std::size_t character_at(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    // An overlong form, a surrogate, or beyond the last character.
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
        (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f))
        return 0;
    return size;
}

/// Like Python's surrogateescape: a byte that is not UTF-8 becomes U+DC00 plus the byte.
void add_quoted(std::string& to, std::string_view text) {
    to += '"';
    while (!text.empty()) {
        const std::size_t size = character_at(text);
        const auto byte = static_cast<std::uint8_t>(text[0]);
        if (size == 0)
            to += fmt::format("\\udc{:02x}", byte);
        else if (byte < 0x20 || byte == '"' || byte == '\\')
            to += fmt::format("\\u{:04x}", byte);
        else
            to += text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    to += '"';
}

Error not_one(std::string_view message) {
    return {Code::kInvalid,
            fmt::format("a spare sent a message that can't be parsed: {}", message.substr(0, 200))};
}

template <class Parsed, class Read>
Result<Parsed> parse(std::string_view message, Read read) {
    try {
        return read(json::parse(message));
    } catch (const std::exception&) {
        return not_one(message);
    }
}

std::string text_of(const json::value& message, const char* key) {
    return std::string(message.at(key).as_string());
}

}  // namespace

std::string start_message(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment, const std::string& cwd) {
    std::string text = fmt::format(R"({{"start": true, "version": {}, "args": [)", kVersion);
    const char* separator = "";
    for (const std::string& argument : arguments) {
        text += separator;
        add_quoted(text, argument);
        separator = ", ";
    }
    text += R"(], "env": {)";
    separator = "";
    for (const std::string& entry : environment) {
        const std::size_t equals = entry.find('=');
        if (equals == 0 || equals == entry.npos) continue;  // no process could be given that
        text += separator;
        add_quoted(text, std::string_view(entry).substr(0, equals));
        text += ": ";
        add_quoted(text, std::string_view(entry).substr(equals + 1));
        separator = ", ";
    }
    text += R"(}, "cwd": )";
    add_quoted(text, cwd);
    text += R"(, "fds": [1, 2]})";
    std::string message;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        message += static_cast<char>(text.size() >> (8 * i) & 0xff);
    return message + text;
}

Result<std::optional<std::string>> take_message(std::string& received) {
    if (received.size() < kLengthBytes) return std::nullopt;
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        length |= std::size_t{static_cast<std::uint8_t>(received[i])} << (8 * i);
    if (length > kLargest)
        return Error(Code::kInvalid,
                     fmt::format("a spare sent a message of {} bytes; at most {} are allowed",
                                 length, kLargest));
    if (received.size() < kLengthBytes + length) return std::nullopt;
    std::string message = received.substr(kLengthBytes, length);
    received.erase(0, kLengthBytes + length);
    return std::optional(std::move(message));
}

Result<SpareReady> parse_ready(std::string_view message) {
    return parse<SpareReady>(message, [&](const json::value& value) -> Result<SpareReady> {
        if (!value.at("ready").as_bool() || value.at("version").to_number<int>() != kVersion)
            return not_one(message);
        SpareReady ready{.warm = value.at("warm").as_bool(),
                         .why = text_of(value, "why"),
                         .module = text_of(value, "module"),
                         .note = text_of(value, "note")};
        for (const json::value& name : value.at("reads").as_array())
            ready.reads.emplace_back(name.as_string());
        return ready;
    });
}

Result<SpareStarted> parse_started(std::string_view message) {
    return parse<SpareStarted>(message, [&](const json::value& value) -> Result<SpareStarted> {
        if (const json::value* refused = value.as_object().if_contains("refused");
            refused != nullptr && refused->as_bool())
            return Error(Code::kUnavailable, text_of(value, "why"));
        if (!value.at("started").as_bool()) return not_one(message);
        return SpareStarted{.warm = value.at("warm").as_bool(), .why = text_of(value, "why")};
    });
}

}  // namespace muster::workers
