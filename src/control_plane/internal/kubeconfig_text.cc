#include "control_plane/internal/kubeconfig_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/fields.h"

namespace muster::control_plane {

namespace {

using Lines = std::vector<std::string>;
using Offset = std::ptrdiff_t;

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) lines.emplace_back(take_field(text, '\n'));
    return lines;
}

std::string text_of(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

std::size_t indentation(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank_or_comment(std::string_view line) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    return at == line.npos || line[at] == '#';
}

/// The line of a key of the top level; the number of lines if there is none.
std::size_t line_of(const Lines& lines, std::string_view key) {
    const auto found = std::ranges::find_if(lines, [&](std::string_view line) {
        return line.starts_with(key) && line.substr(key.size()).starts_with(':');
    });
    return static_cast<std::size_t>(found - lines.begin());
}

/// The first and the last line + 1 of each item of a list, without what lies between two of them.
struct Items {
    std::size_t indent = 0;
    std::vector<std::size_t> begins;
    std::size_t end = 0;  ///< of the last one

    std::size_t end_of(const Lines& lines, std::size_t index) const {
        std::size_t at = index + 1 < begins.size() ? begins[index + 1] : end;
        while (at > begins[index] + 1 && is_blank_or_comment(lines[at - 1])) --at;
        return at;
    }
};

Items items_after(const Lines& lines, std::size_t key_line) {
    Items items;
    items.end = key_line + 1;
    for (std::size_t at = key_line + 1; at < lines.size(); ++at) {
        const std::string_view line = lines[at];
        if (is_blank_or_comment(line)) continue;
        const std::size_t indent = indentation(line);
        const bool begins = line.substr(indent).starts_with("- ");
        if (items.begins.empty()) {
            if (!begins) break;
            items.indent = indent;
        } else if (indent < items.indent || (indent == items.indent && !begins)) {
            break;
        }
        if (begins && indent == items.indent) items.begins.push_back(at);
        items.end = at + 1;
    }
    return items;
}

/// "- " before the first line, and the others below it.
Lines as_item(std::string_view item, std::size_t indent) {
    Lines lines = lines_of(item);
    for (std::size_t i = 0; i < lines.size(); ++i)
        lines[i] = std::string(indent, ' ') + (i == 0 ? "- " : "  ") + lines[i];
    return lines;
}

}  // namespace

std::string with_item(std::string_view text, std::string_view key, std::optional<std::size_t> index,
                      std::string_view item) {
    Lines lines = lines_of(text);
    const std::size_t key_line = line_of(lines, key);
    if (key_line == lines.size()) lines.push_back(fmt::format("{}:", key));
    const Items items = items_after(lines, key_line);
    const Lines made = as_item(item, items.indent);
    auto where = lines.begin() + static_cast<Offset>(items.end);
    if (index && *index < items.begins.size()) {
        const std::size_t end = items.end_of(lines, *index);
        where = lines.erase(lines.begin() + static_cast<Offset>(items.begins[*index]),
                            lines.begin() + static_cast<Offset>(end));
    }
    lines.insert(where, made.begin(), made.end());
    return text_of(lines);
}

std::string with_scalar(std::string_view text, std::string_view key, std::string_view value) {
    Lines lines = lines_of(text);
    const std::size_t at = line_of(lines, key);
    std::string comment;
    if (at == lines.size())
        lines.emplace_back();
    else if (const std::size_t sign = lines[at].find(" #"); sign != std::string::npos)
        comment = lines[at].substr(sign);
    lines[at] = fmt::format("{}: {}{}", key, value, comment);
    return text_of(lines);
}

}  // namespace muster::control_plane
