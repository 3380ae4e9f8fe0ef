#include "base/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace muster {

namespace {

constexpr char kEscape = '\x1b';

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

/// A character at the start of UTF-8 that a terminal obeys although it is no control character of
/// ASCII.
struct Hidden {
    unsigned point = 0;
    std::size_t bytes = 0;  ///< 0: there is none
};

Hidden hidden_at(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text.size() >= 2 && byte(0) == 0xc2 && byte(1) < 0xa0) return {byte(1), 2};  // C1
    if (text.size() < 3 || byte(0) != 0xe2) return {};
    const unsigned point = 0x2000u + ((byte(1) & 0x3fu) << 6) + (byte(2) & 0x3fu);
    const bool turns = point == 0x200e || point == 0x200f || (point >= 0x202a && point <= 0x202e) ||
                       (point >= 0x2066 && point <= 0x2069);
    // Line and paragraph separators.
    if (turns || point == 0x2028 || point == 0x2029) return {point, 3};
    return {};
}

bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

std::string visible(std::string_view text, bool keeps_lines) {
    if (is_plain(text)) return std::string(text);
    const std::string whole = as_utf8(text);
    std::string made;
    made.reserve(whole.size());
    for (std::size_t at = 0; at < whole.size();) {
        const char c = whole[at];
        if (c == '\t' || (c == '\n' && keeps_lines)) {
            made += c;
        } else if (c == '\n') {
            made += "\\n";
        } else if (is_control(c)) {
            fmt::format_to(std::back_inserter(made), "\\x{:02x}", static_cast<unsigned>(c));
        } else if (const Hidden hidden = hidden_at(std::string_view(whole).substr(at));
                   hidden.bytes > 0) {
            fmt::format_to(std::back_inserter(made), "\\u{:04x}", hidden.point);
            at += hidden.bytes;
            continue;
        } else {
            made += c;
        }
        ++at;
    }
    return made;
}

/// The length of the control sequence after "ESC [" or its C1 form, its last byte included. One
/// that does not end takes everything.
std::size_t length_of_control_sequence(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && text[at] >= 0x20 && text[at] <= 0x3f) ++at;
    return std::min(at + 1, text.size());
}

/// The length of a string for the terminal (a title, a clipboard) up to its end, BEL or ST.
std::size_t length_of_control_string(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\a') return at + 1;
        if (text.substr(at).starts_with("\x1b\\") || text.substr(at).starts_with("\xc2\x9c"))
            return at + 2;
    }
    return text.size();
}

/// A sequence at the start of a text, as far as a terminal reads it.
struct Sequence {
    std::size_t bytes = 0;  ///< 0: there is none
    bool is_style = false;
};

Sequence after_introducer(char kind, std::string_view rest, std::size_t introducer) {
    if (kind == '[') {
        const std::size_t length = length_of_control_sequence(rest);
        const std::string_view sequence = rest.substr(0, length);
        const bool is_style =
            sequence.ends_with('m') && sequence.find_first_not_of("0123456789;:m") == sequence.npos;
        return {introducer + length, is_style};
    }
    if (std::string_view("]PX^_").contains(kind))
        return {introducer + length_of_control_string(rest)};
    return {introducer};
}

Sequence sequence_at(std::string_view text) {
    if (text.front() == kEscape) {
        if (text.size() < 2) return {1};
        // One of a character set has a byte of its own; "ESC ESC" begins another.
        const char kind = text[1];
        if (kind >= 0x20 && kind <= 0x2f) return {std::min<std::size_t>(3, text.size())};
        if (kind < 0x30 || kind >= 0x7f) return {1};
        return after_introducer(kind, text.substr(2), 2);
    }
    const Hidden hidden = hidden_at(text);
    if (hidden.bytes == 2 && hidden.point != 0x85) {
        Sequence found =
            after_introducer(static_cast<char>(hidden.point - 0x40), text.substr(2), 2);
        found.is_style = false;
        return found;
    }
    if (hidden.bytes > 0) return {hidden.bytes};
    if (is_control(text.front()) && text.front() != '\t') return {1};
    return {};
}

}  // namespace

std::string visible_text(std::string_view text) { return visible(text, true); }

std::string visible_line(std::string_view text) { return visible(text, false); }

std::string without_styles(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    while (!text.empty()) {
        const Sequence sequence =
            text.front() == kEscape ? sequence_at(text) : Sequence{.bytes = 0, .is_style = false};
        if (!sequence.is_style) made += text.front();
        text.remove_prefix(sequence.is_style ? sequence.bytes : 1);
    }
    return made;
}

std::string log_line_for_terminal(std::string_view line, bool styles) {
    if (is_plain(line)) return std::string(line);
    const std::string whole = as_utf8(line);
    std::string made;
    made.reserve(whole.size());
    bool styled = false;
    for (std::string_view rest = whole; !rest.empty();) {
        const Sequence sequence = sequence_at(rest);
        if (sequence.bytes == 0) {
            made += rest.front();
            rest.remove_prefix(1);
            continue;
        }
        if (sequence.is_style && styles) {
            const std::string_view style = rest.substr(0, sequence.bytes);
            made += style;
            styled = style != "\x1b[0m" && style != "\x1b[m";
        }
        rest.remove_prefix(sequence.bytes);
    }
    if (styled) made += "\x1b[0m";
    return made;
}

}  // namespace muster
