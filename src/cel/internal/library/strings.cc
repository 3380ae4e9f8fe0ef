#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/lower_case.h"
#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/library/format_text.h"

// The strings of cel-go's extension in its version 2. Places in a text count its code points.

namespace muster::cel {
namespace {

constexpr std::size_t npos = std::string_view::npos;

std::unexpected<Failure> out_of_range(std::int64_t index) {
    return failure(fmt::format("index out of range: {}", index));
}

/// The byte at which the code point of that number begins; the end of the text for the number
/// behind the last, npos beyond.
std::size_t byte_of(std::string_view text, std::size_t point) {
    std::size_t at = 0;
    for (; point > 0; --point) {
        if (at >= text.size()) return npos;
        ++at;
        while (at < text.size() && continues_character(text[at])) ++at;
    }
    return at;
}
std::string_view text_of(const Value& value) { return value.string()->view(); }

/// Texts that a function made, if they are not too long.
Outcome made(std::string text) {
    if (text.size() > kLongestResult) return cost_limit_exceeded();
    return Value::text(std::move(text));
}

Outcome contains(Arguments arguments) {
    if (!argument<Text>(arguments, 0) || !argument<Text>(arguments, 1)) return no_such_overload();
    return text_of(arguments[0]).find(text_of(arguments[1])) != npos;
}
Outcome starts_with(Arguments arguments) {
    if (!argument<Text>(arguments, 0) || !argument<Text>(arguments, 1)) return no_such_overload();
    return text_of(arguments[0]).starts_with(text_of(arguments[1]));
}
Outcome ends_with(Arguments arguments) {
    if (!argument<Text>(arguments, 0) || !argument<Text>(arguments, 1)) return no_such_overload();
    return text_of(arguments[0]).ends_with(text_of(arguments[1]));
}

Outcome char_at(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const auto* index = argument<std::int64_t>(arguments, 1);
    if (text == nullptr || index == nullptr) return no_such_overload();
    const std::size_t begin =
        *index < 0 ? npos : byte_of(text->view(), static_cast<std::size_t>(*index));
    if (begin == npos) return out_of_range(*index);
    const std::string_view rest = text->view().substr(begin);
    return Value::text(std::string(rest.substr(0, byte_of(rest, rest.empty() ? 0 : 1))));
}

/// Where the second text is found from a place on; -1: nowhere.
Outcome index_in_text(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* part = argument<Text>(arguments, 1);
    if (text == nullptr || part == nullptr) return no_such_overload();
    const auto* from = argument<std::int64_t>(arguments, 2);
    const std::int64_t offset = from ? *from : 0;
    if (part->view().empty()) return offset;
    if (offset < 0) return out_of_range(offset);
    const std::size_t begin = byte_of(text->view(), static_cast<std::size_t>(offset));
    if (begin == npos) return std::int64_t{-1};
    const std::size_t found = text->view().find(part->view(), begin);
    if (found == npos) return std::int64_t{-1};
    return static_cast<std::int64_t>(code_points(text->view().substr(0, found)));
}
Outcome last_index_in_text(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* part = argument<Text>(arguments, 1);
    if (text == nullptr || part == nullptr) return no_such_overload();
    const auto* from = argument<std::int64_t>(arguments, 2);
    const auto length = static_cast<std::int64_t>(code_points(text->view()));
    if (part->view().empty()) return from ? *from : length;
    const std::int64_t offset = from ? *from : length - 1;
    if (offset < 0) return out_of_range(offset);
    if (offset >= length) return std::int64_t{-1};
    const std::size_t found =
        text->view().rfind(part->view(), byte_of(text->view(), static_cast<std::size_t>(offset)));
    if (found == npos) return std::int64_t{-1};
    return static_cast<std::int64_t>(code_points(text->view().substr(0, found)));
}

Outcome index_in_list(Arguments arguments, bool last) {
    const List* list = arguments[0].list();
    if (list == nullptr || arguments.size() != 2) return no_such_overload();
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::size_t at = last ? list->size() - 1 - i : i;
        if (equal(list->at(at), arguments[1])) return static_cast<std::int64_t>(at);
    }
    return std::int64_t{-1};
}
Outcome index_of(Arguments arguments) {
    return arguments[0].list() ? index_in_list(arguments, false) : index_in_text(arguments);
}
Outcome last_index_of(Arguments arguments) {
    return arguments[0].list() ? index_in_list(arguments, true) : last_index_in_text(arguments);
}

Outcome lower_ascii(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    return Value::text(lower_case(text->view()));
}
Outcome upper_ascii(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    std::string upper(text->view());
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return Value::text(std::move(upper));
}

/// A text in the place of another one, at most `left` times (negative: always). An empty one is
/// found before each code point and at the end.
Outcome replaced(std::string_view text, std::string_view from, std::string_view to,
                 std::int64_t left) {
    std::string result;
    std::size_t at = 0;
    for (; left != 0; --left) {
        std::size_t found = at;
        if (from.empty()) {
            if (at > text.size()) break;
        } else {
            found = text.find(from, at);
            if (found == npos) break;
        }
        result += text.substr(at, found - at);
        result += to;
        at = found + from.size();
        if (from.empty()) {
            if (at == text.size()) return made(std::move(result));
            const std::size_t next = at + byte_of(text.substr(at), 1);
            result += text.substr(at, next - at);
            at = next;
        }
        if (result.size() > kLongestResult) return cost_limit_exceeded();
    }
    if (at < text.size()) result += text.substr(at);
    return made(std::move(result));
}
Outcome replace(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* from = argument<Text>(arguments, 1);
    const Text* to = argument<Text>(arguments, 2);
    if (text == nullptr || from == nullptr || to == nullptr) return no_such_overload();
    const auto* most = argument<std::int64_t>(arguments, 3);
    return replaced(text->view(), from->view(), to->view(), most ? *most : -1);
}

/// At most `most` pieces (negative: all); an empty separator splits into code points.
std::vector<Value> pieces_of(std::string_view text, std::string_view separator, std::int64_t most) {
    std::vector<Value> pieces;
    if (most == 0) return pieces;
    if (separator.empty() && text.empty()) return pieces;
    while (most < 0 || static_cast<std::int64_t>(pieces.size()) + 1 < most) {
        std::size_t end = separator.empty() ? byte_of(text, 1) : text.find(separator);
        if (end == npos || (separator.empty() && end == text.size())) break;
        pieces.push_back(Value::text(std::string(text.substr(0, end))));
        text.remove_prefix(end + separator.size());
    }
    pieces.push_back(Value::text(std::string(text)));
    return pieces;
}
Outcome split(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* separator = argument<Text>(arguments, 1);
    if (text == nullptr || separator == nullptr) return no_such_overload();
    const auto* most = argument<std::int64_t>(arguments, 2);
    return Value::list(pieces_of(text->view(), separator->view(), most ? *most : -1));
}

Outcome substring(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const auto* start = argument<std::int64_t>(arguments, 1);
    if (text == nullptr || start == nullptr) return no_such_overload();
    const auto* given = argument<std::int64_t>(arguments, 2);
    if (given != nullptr && *start > *given)
        return failure(fmt::format("invalid substring range. start: {}, end: {}", *start, *given));
    const std::size_t begin =
        *start < 0 ? npos : byte_of(text->view(), static_cast<std::size_t>(*start));
    if (begin == npos) return out_of_range(*start);
    std::size_t end = text->view().size();
    if (given != nullptr) end = byte_of(text->view(), static_cast<std::size_t>(*given));
    if (end == npos) return out_of_range(*given);
    return Value::text(std::string(text->view().substr(begin, end - begin)));
}

/// The bytes of a white space of Unicode at the front; 0: there is none.
std::size_t space_at(std::string_view text) {
    constexpr std::array<std::string_view, 25> kSpaces = {
        " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00a0", "\u1680",
        "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
        "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
    for (std::string_view space : kSpaces)
        if (text.starts_with(space)) return space.size();
    return 0;
}
Outcome trim(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    std::string_view rest = text->view();
    while (const std::size_t blank = space_at(rest)) rest.remove_prefix(blank);
    for (;;) {
        std::size_t last = rest.size();
        while (last > 0 && continues_character(rest[last - 1])) --last;
        if (last > 0) --last;
        if (rest.empty() || space_at(rest.substr(last)) == 0) break;
        rest = rest.substr(0, last);
    }
    return Value::text(std::string(rest));
}

Outcome join(Arguments arguments) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    const Text* separator = argument<Text>(arguments, 1);
    if (separator == nullptr && arguments.size() > 1) return no_such_overload();
    std::string text;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Value element = list->at(i);
        if (element.string() == nullptr)
            return failure("join: invalid input: " + element.type_name());
        if (i > 0 && separator != nullptr) text += separator->view();
        text += text_of(element);
        if (text.size() > kLongestResult) return cost_limit_exceeded();
    }
    return Value::text(std::move(text));
}

Outcome quote(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    return made(quoted_text(text->view()));
}

Outcome format(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const List* list = arguments.size() == 2 ? arguments[1].list() : nullptr;
    if (text == nullptr || list == nullptr) return no_such_overload();
    std::expected<std::string, std::string> formatted = format_text(text->view(), *list);
    if (!formatted) return failure(std::move(formatted).error());
    return made(*std::move(formatted));
}

constexpr NamedFunction kFunctions[] = {
    {"contains", contains},
    {"startsWith", starts_with},
    {"endsWith", ends_with},
    {"charAt", char_at},
    {"indexOf", index_of},
    {"lastIndexOf", last_index_of},
    {"lowerAscii", lower_ascii},
    {"upperAscii", upper_ascii},
    {"replace", replace},
    {"split", split},
    {"substring", substring},
    {"trim", trim},
    {"join", join},
    {"strings.quote", quote},
    {"format", format},
};

}  // namespace

std::span<const NamedFunction> string_functions() { return kFunctions; }

}  // namespace muster::cel
