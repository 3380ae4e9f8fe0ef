#include "apiserver/objects/text_fields.h"

#include <algorithm>
#include <boost/json.hpp>

#include "apiserver/objects/json_access.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// The position after the string whose opening quotation mark is at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (std::size_t end = text.find('"', at + 1); end != kNone; end = text.find('"', end + 1)) {
        std::size_t escapes = 0;
        while (text[end - 1 - escapes] == '\\') ++escapes;
        if (escapes % 2 == 0) return end + 1;
    }
    return kNone;
}

/// The position after the value that begins at `at`.
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

/// The beginning of the field after the one whose value ends at `at`.
std::size_t next_field(std::string_view text, std::size_t at) {
    const bool follows = at != kNone && text.substr(at).starts_with(",\"");
    return follows ? at + 1 : kNone;
}

/// The beginning of the value whose key begins at `at`.
std::size_t value_of_key(std::string_view text, std::size_t at) {
    const std::size_t end = end_of_string(text, at);
    return end != kNone && end < text.size() && text[end] == ':' ? end + 1 : kNone;
}

/// Text that begins with the value of a field of the object at the start of `text`, and ends
/// anywhere after it: finding that end takes a walk through the value.
std::optional<std::string_view> from_field(std::string_view text, std::string_view key) {
    std::size_t at = text.starts_with("{\"") ? 1 : kNone;
    while (at != kNone) {
        const std::size_t value = value_of_key(text, at);
        if (value == kNone) return std::nullopt;
        if (text.substr(at + 1, value - at - 3) == key) return text.substr(value);
        at = next_field(text, end_of_value(text, value));
    }
    return std::nullopt;
}

std::optional<std::string_view> from_path(std::string_view text, std::string_view dotted) {
    for (;;) {
        const std::size_t dot = dotted.find('.');
        const auto found = from_field(text, dotted.substr(0, dot));
        if (!found || dot == kNone) return found;
        text = *found;
        dotted.remove_prefix(dot + 1);
    }
}

/// Calls `visit(key, value)` with the texts of each field of the object at the start of `text`,
/// until it returns false.
template <typename Visit>
void walk_fields(std::string_view text, Visit visit) {
    std::size_t at = text.starts_with("{\"") ? 1 : kNone;
    while (at != kNone) {
        const std::size_t value = value_of_key(text, at);
        const std::size_t end = value == kNone ? kNone : end_of_value(text, value);
        if (end == kNone ||
            !visit(text.substr(at + 1, value - at - 3), text.substr(value, end - value)))
            return;
        at = next_field(text, end);
    }
}

/// The same for the elements of the list at the start of `text`.
template <typename Visit>
void walk_elements(std::string_view text, Visit visit) {
    std::size_t at = text.starts_with('[') ? 0 : kNone;
    while (at != kNone && text[at] != ']') {
        const std::size_t end = end_of_value(text, at + 1);
        if (end == kNone || end == at + 1 || !visit(text.substr(at + 1, end - at - 1))) return;
        at = end < text.size() ? end : kNone;
    }
}

json::value parsed(std::string_view text) {
    json::parse_options options = kube::json_limits();
    options.allow_invalid_utf8 = true;
    boost::system::error_code failed;
    return json::parse(text, failed, {}, options);
}

/// Calls `use` with the string that this text of a value stands for; not at all for other values.
template <typename Use>
void with_string(std::string_view text, Use use) {
    if (!text.starts_with('"')) return;
    if (text.find('\\') == kNone) return use(text.substr(1, text.size() - 2));
    const json::value value = parsed(text);
    if (const json::string* string = value.if_string()) use(std::string_view(*string));
}

}  // namespace

std::optional<std::string_view> text_at_path(std::string_view object, std::string_view dotted) {
    const auto from = from_path(object, dotted);
    const std::size_t end = from ? end_of_value(*from, 0) : kNone;
    if (end == kNone) return std::nullopt;
    return from->substr(0, end);
}

bool any_at_path(std::string_view object, std::string_view dotted,
                 std::initializer_list<std::string_view> keys) {
    bool any = false;
    walk_fields(from_path(object, dotted).value_or(""),
                [&](std::string_view key, std::string_view value) {
                    any = std::ranges::find(keys, key) != keys.end() && value != "null";
                    return !any;
                });
    return any;
}

json::value value_at_path(std::string_view object, std::string_view dotted) {
    const auto found = text_at_path(object, dotted);
    return found ? parsed(*found) : nullptr;
}

std::string string_at_path(std::string_view object, std::string_view dotted) {
    std::string string;
    with_string(text_at_path(object, dotted).value_or(""),
                [&](std::string_view found) { string = found; });
    return string;
}

void each_label(std::string_view object,
                const std::function<void(std::string_view key, std::string_view value)>& visit) {
    walk_fields(from_path(object, "metadata.labels").value_or(""),
                [&](std::string_view key, std::string_view text) {
                    with_string(text, [&](std::string_view value) { visit(key, value); });
                    return true;
                });
}

std::string label_at(std::string_view object, std::string_view key) {
    std::string found;
    walk_fields(from_path(object, "metadata.labels").value_or(""),
                [&](std::string_view each, std::string_view text) {
                    if (each != key) return true;
                    with_string(text, [&](std::string_view value) { found = value; });
                    return false;
                });
    return found;
}

void each_finalizer(std::string_view object,
                    const std::function<void(std::string_view name)>& visit) {
    walk_elements(from_path(object, "metadata.finalizers").value_or(""),
                  [&](std::string_view text) {
                      with_string(text, visit);
                      return true;
                  });
}

store::ObjectTextPtr with_resource_version(const store::ObjectText& object,
                                           std::uint64_t revision) {
    const std::string_view text = object.text();
    const auto found = text_at_path(text, "metadata.resourceVersion");
    if (!found) return store::ObjectText::of(with_resource_version(*object.tree(), revision));
    const auto begin = static_cast<std::size_t>(found->data() - text.data());
    return std::make_shared<const store::ObjectText>(fmt::format(
        "{}\"{}\"{}", text.substr(0, begin), revision, text.substr(begin + found->size())));
}

std::string namespace_of(const store::ObjectText& object) {
    return string_at_path(object.text(), "metadata.namespace");
}
std::string name_of(const store::ObjectText& object) {
    return string_at_path(object.text(), "metadata.name");
}
std::string uid_of(const store::ObjectText& object) {
    return string_at_path(object.text(), "metadata.uid");
}
bool is_deleting(const store::ObjectText& object) {
    return !string_at_path(object.text(), "metadata.deletionTimestamp").empty();
}

}  // namespace muster::apiserver
