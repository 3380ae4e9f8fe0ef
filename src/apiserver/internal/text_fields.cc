#include "apiserver/internal/text_fields.h"

#include <boost/json.hpp>

namespace muster::apiserver {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// Behind the string whose opening quotation mark is at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (std::size_t end = text.find('"', at + 1); end != kNone; end = text.find('"', end + 1)) {
        std::size_t escapes = 0;
        while (text[end - 1 - escapes] == '\\') ++escapes;
        if (escapes % 2 == 0) return end + 1;
    }
    return kNone;
}

/// Behind the value that begins at `at`.
std::size_t end_of_value(std::string_view text, std::size_t at) {
    if (at >= text.size()) return kNone;
    if (text[at] == '"') return end_of_string(text, at);
    if (text[at] != '{' && text[at] != '[') return text.find_first_of(",}]", at);
    std::size_t depth = 0;
    do {
        switch (text[at]) {
            case '"':
                at = end_of_string(text, at);
                if (at == kNone) return kNone;
                continue;
            case '{':
            case '[':
                ++depth;
                break;
            case '}':
            case ']':
                if (--depth == 0) return at + 1;
                break;
            default:
                break;
        }
        ++at;
    } while (at < text.size());
    return kNone;
}

std::optional<std::string_view> field(std::string_view object, std::string_view key) {
    if (!object.starts_with("{\"")) return std::nullopt;
    std::size_t at = 1;
    while (at < object.size() && object[at] == '"') {
        const std::size_t key_end = end_of_string(object, at);
        if (key_end == kNone || key_end >= object.size() || object[key_end] != ':')
            return std::nullopt;
        const std::size_t value_end = end_of_value(object, key_end + 1);
        if (value_end == kNone) return std::nullopt;
        if (object.substr(at + 1, key_end - at - 2) == key)
            return object.substr(key_end + 1, value_end - key_end - 1);
        at = value_end + 1;  // the comma
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string_view> text_at_path(std::string_view object, std::string_view dotted) {
    for (;;) {
        const std::size_t dot = dotted.find('.');
        const auto found = field(object, dotted.substr(0, dot));
        if (!found || dot == std::string_view::npos) return found;
        object = *found;
        dotted.remove_prefix(dot + 1);
    }
}

json::value value_at_path(std::string_view object, std::string_view dotted) {
    const auto found = text_at_path(object, dotted);
    if (!found) return nullptr;
    json::parse_options options;
    options.allow_invalid_utf8 = true;
    boost::system::error_code failed;
    return json::parse(*found, failed, {}, options);
}

std::string string_at_path(std::string_view object, std::string_view dotted) {
    const auto found = text_at_path(object, dotted);
    if (!found || !found->starts_with('"')) return {};
    if (found->find('\\') == std::string_view::npos)
        return std::string(found->substr(1, found->size() - 2));
    const json::value parsed = value_at_path(object, dotted);
    return parsed.is_string() ? std::string(parsed.get_string()) : std::string();
}

std::string namespace_of(const ObjectText& object) {
    return string_at_path(object.text(), "metadata.namespace");
}
std::string name_of(const ObjectText& object) {
    return string_at_path(object.text(), "metadata.name");
}
std::string uid_of(const ObjectText& object) {
    return string_at_path(object.text(), "metadata.uid");
}
bool is_deleting(const ObjectText& object) {
    return !string_at_path(object.text(), "metadata.deletionTimestamp").empty();
}

}  // namespace muster::apiserver
