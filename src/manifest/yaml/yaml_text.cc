#include "manifest/yaml/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"

namespace muster::manifest {

namespace {

constexpr std::size_t kBytesBetweenMarks = 64;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none
/// (RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF).
std::size_t sequence_length(std::string_view text, char32_t& point) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    std::size_t length = 0;
    char32_t least = 0;
    if (byte(0) < 0x80) {
        point = byte(0);
        return 1;
    }
    if ((byte(0) & 0xE0) == 0xC0) length = 2, least = 0x80, point = byte(0) & 0x1F;
    if ((byte(0) & 0xF0) == 0xE0) length = 3, least = 0x800, point = byte(0) & 0x0F;
    if ((byte(0) & 0xF8) == 0xF0) length = 4, least = 0x10000, point = byte(0) & 0x07;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[i])) return 0;
        point = (point << 6) | (byte(i) & 0x3F);
    }
    bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    return point < least || point > 0x10FFFF || surrogate ? 0 : length;
}

bool is_control(char32_t point) {
    if (point == '\t' || point == '\n' || point == '\r' || point == 0x85) return false;
    return point < 0x20 || (point >= 0x7F && point < 0xA0);
}

bool is_marker(std::string_view line, std::string_view marker) {
    if (!line.starts_with(marker)) return false;
    return line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r';
}

/// Whether a line is empty or only has a comment.
bool is_blank(std::string_view line) {
    std::size_t first = line.find_first_not_of(" \t\r");
    return first == std::string_view::npos || line[first] == '#';
}

std::optional<unsigned> hex4(std::string_view text) {
    if (text.size() < 4) return std::nullopt;
    return parse_number<unsigned>(text.substr(0, 4), 16);
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0} {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i % kBytesBetweenMarks == 0) marks_.push_back(characters);
        if (!is_continuation(text[i])) ++characters;
        if (text[i] == '\n') starts_.push_back(i + 1);
    }
    marks_.push_back(characters);
}

std::size_t LineIndex::characters_before(std::size_t offset) const {
    const std::size_t mark = std::min(offset / kBytesBetweenMarks, marks_.size() - 1);
    const std::size_t from = mark * kBytesBetweenMarks;
    if (from >= offset) return marks_[mark];
    return marks_[mark] +
           static_cast<std::size_t>(std::ranges::count_if(
               text_.substr(from, offset - from), [](char c) { return !is_continuation(c); }));
}

Place LineIndex::at(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    auto line = std::ranges::upper_bound(starts_, offset) - starts_.begin();
    std::size_t start = starts_[static_cast<std::size_t>(line - 1)];
    const std::size_t characters = characters_before(offset) - characters_before(start);
    return {.line = static_cast<int>(line), .column = static_cast<int>(characters) + 1};
}

std::string_view LineIndex::line_at(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto number = std::ranges::upper_bound(starts_, offset) - starts_.begin();
    return line(static_cast<int>(number));
}

std::string_view LineIndex::line(int number) const {
    if (number < 1 || static_cast<std::size_t>(number) > starts_.size()) return {};
    const std::string_view rest = text_.substr(starts_[static_cast<std::size_t>(number - 1)]);
    return rest.substr(0, rest.find_first_of("\r\n"));
}

std::optional<BadByte> find_bad_byte(std::string_view text) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return BadByte{0, "the file is UTF-16; save it as UTF-8"};
    for (std::size_t i = 0; i < text.size();) {
        char32_t point = 0;
        std::size_t length = sequence_length(text.substr(i), point);
        if (length == 0)
            return BadByte{
                i, fmt::format("byte {} (0x{:02x}) is not valid UTF-8; save the file as UTF-8", i,
                               static_cast<unsigned char>(text[i]))};
        if (is_control(point))
            return BadByte{
                i, fmt::format("byte {} is the control character U+{:04X}, which YAML does not "
                               "allow; in a double-quoted string write it as \"\\x{:02x}\"",
                               i, static_cast<unsigned>(point), static_cast<unsigned>(point))};
        i += length;
    }
    return std::nullopt;
}

std::vector<TextSpan> split_documents(std::string_view text) {
    std::vector<TextSpan> spans;
    TextSpan span;
    bool has_content = false;
    bool has_marker = false;
    bool has_directive = false;
    auto close = [&](std::size_t end, std::size_t next) {
        span.end = end;
        if (has_content) spans.push_back(span);
        span.begin = next;
        has_content = has_marker = has_directive = false;
    };
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = std::min(text.find('\n', i), text.size());
        std::string_view line = text.substr(i, end - i);
        std::size_t next = std::min(end + 1, text.size());
        if (is_marker(line, "---")) {
            // The first marker after directives belongs to their document.
            if (has_content || has_marker || !has_directive) close(i, i);
            has_marker = true;
            has_content = !is_blank(line.substr(3));
        } else if (is_marker(line, "...")) {
            close(i, next);
        } else if (!has_content && !has_marker && line.starts_with('%')) {
            has_directive = true;
        } else if (!is_blank(line)) {
            has_content = true;
        }
        i = next;
    }
    close(text.size(), text.size());
    return spans;
}

std::string join_surrogates(std::string_view text) {
    std::string joined;
    joined.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            joined += text[i++];
            continue;
        }
        if (text.substr(i).starts_with("\\u") &&
            text.substr(std::min(i + 6, text.size())).starts_with("\\u")) {
            auto high = hex4(text.substr(i + 2));
            auto low = hex4(text.substr(i + 8));
            if (high && low && *high >= 0xD800 && *high < 0xDC00 && *low >= 0xDC00 &&
                *low < 0xE000) {
                joined +=
                    fmt::format("\\U{:08X}", 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
                i += 12;
                continue;
            }
        }
        joined += text.substr(i, 2);
        i += 2;
    }
    return joined;
}

}  // namespace muster::manifest
