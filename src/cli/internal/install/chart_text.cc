#include "cli/internal/install/chart_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/fields.h"

namespace muster::cli {

namespace {

constexpr std::string_view kValue = "__value";
constexpr std::string_view kItems = "__items";
constexpr std::string_view kEnd = "__";

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) lines.push_back(take_field(text, '\n'));
    return lines;
}

std::string joined(std::span<const std::string_view> lines) {
    std::string text;
    for (const std::string_view line : lines) text += fmt::format("{}\n", line);
    return text;
}

/// A line with marks of values.
std::string line_with_values(std::string_view line) {
    std::string out;
    while (true) {
        const std::size_t begin = line.find(kValue);
        if (begin == line.npos) return out.append(line);
        const std::size_t name = begin + kValue.size();
        const std::size_t end = line.find(kEnd, name);
        CHECK(end != line.npos, "a mark has an end");
        out.append(line.substr(0, begin));
        const bool whole =
            (out.ends_with(": ") || out.ends_with("- ")) && end + kEnd.size() == line.size();
        out += fmt::format("{{{{ {}{} }}}}", whole ? "toJson " : "", line.substr(name, end - name));
        line.remove_prefix(end + kEnd.size());
    }
}

}  // namespace

std::string chart_value(std::string_view path) { return fmt::format("{}{}{}", kValue, path, kEnd); }

std::string chart_items(std::string_view path) { return fmt::format("{}{}{}", kItems, path, kEnd); }

std::string with_expressions(std::string_view yaml) {
    std::string out;
    for (const std::string_view line : lines_of(yaml)) {
        const std::size_t items = line.find(kItems);
        if (items == line.npos) {
            out += line_with_values(line) + '\n';
            continue;
        }
        CHECK(line.substr(0, items).ends_with("- ") && line.ends_with(kEnd),
              "the mark of several items is an item by itself");
        std::string_view path = line.substr(items + kItems.size());
        path.remove_suffix(kEnd.size());
        const std::string_view indent = line.substr(0, items - 2);
        out += fmt::format("{0}{{{{- range {1} }}}}\n{0}- {{{{ toJson . }}}}\n{0}{{{{- end }}}}\n",
                           indent, path);
    }
    return out;
}

std::string either(std::string_view condition, std::string_view then, std::string_view otherwise) {
    if (then == otherwise) return std::string(then);
    const std::vector<std::string_view> a = lines_of(then);
    const std::vector<std::string_view> b = lines_of(otherwise);
    const auto same = std::ranges::mismatch(a, b);
    const std::span<const std::string_view> before(a.begin(), same.in1);
    std::span<const std::string_view> rest_a(same.in1, a.end());
    std::span<const std::string_view> rest_b(same.in2, b.end());
    std::size_t after = 0;
    while (after < std::min(rest_a.size(), rest_b.size()) &&
           rest_a[rest_a.size() - 1 - after] == rest_b[rest_b.size() - 1 - after])
        ++after;
    const auto end = rest_a.last(after);
    rest_a = rest_a.first(rest_a.size() - after);
    rest_b = rest_b.first(rest_b.size() - after);
    std::string out = joined(before);
    out += rest_a.empty() ? fmt::format("{{{{- if not {} }}}}\n{}", condition, joined(rest_b))
                          : fmt::format("{{{{- if {} }}}}\n{}", condition, joined(rest_a));
    if (!rest_a.empty() && !rest_b.empty())
        out += fmt::format("{{{{- else }}}}\n{}", joined(rest_b));
    return out + "{{- end }}\n" + joined(end);
}

std::string only_if(std::string_view condition, std::string_view text) {
    return fmt::format("{{{{- if {} }}}}\n{}{{{{- end }}}}\n", condition, text);
}

}  // namespace muster::cli
