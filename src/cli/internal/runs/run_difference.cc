#include "cli/internal/runs/run_difference.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>

#include "base/fields.h"
#include "base/shell_word.h"
#include "cli/internal/run/event_text.h"
#include "kube/values/json_access.h"
#include "manifest/manifest.h"

namespace muster::cli {

namespace {

using Values = std::map<std::string, std::string>;

/// "spec.replicas" -> "2". Recurses no deeper than a manifest is nested.
void add_leaves(Values& values, const std::string& path, const json::value& value) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
        for (const auto& [key, child] : *object)
            add_leaves(values, path.empty() ? std::string(key) : path + "." + std::string(key),
                       child);
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
        for (std::size_t i = 0; i < array->size(); ++i)
            add_leaves(values, fmt::format("{}[{}]", path, i), (*array)[i]);
    } else {
        const json::string* text = value.if_string();
        values[path] = text != nullptr ? std::string(*text) : json::serialize(value);
    }
}

Values of_manifest(const std::string& text) {
    Values values;
    for (const manifest::Document& document : manifest::read_manifest(text, "").documents) {
        const json::object* object = document.object.if_object();
        if (object == nullptr) continue;
        // Objects are compared by their names, whatever their order.
        const std::string name =
            fmt::format("{} {}: ", kube::string_at(*object, "kind"), kube::name_of(*object));
        Values own;
        add_leaves(own, "", document.object);
        for (auto& [path, value] : own) values[name + path] = std::move(value);
    }
    return values;
}

/// "NAME=VALUE" or "NAME VALUE" lines.
Values of_lines(std::string_view text, char separator) {
    Values values;
    while (!text.empty()) {
        std::string_view line = take_field(text, '\n');
        const std::string name(take_field(line, separator));
        values[name] = line;
    }
    return values;
}

void compare(std::vector<RunDifference>& found, const std::string& section, const Values& before,
             const Values& after) {
    Values names = before;
    names.insert(after.begin(), after.end());
    for (const auto& [name, value] : names) {
        const auto a = before.find(name);
        const auto b = after.find(name);
        if (a != before.end() && b != after.end() && a->second == b->second) continue;
        found.push_back(
            {section, name, a == before.end() ? "" : a->second, b == after.end() ? "" : b->second});
    }
}

Values of_result(const RunRecord& record) {
    if (!record.end) return {{"", "no end"}};
    return {{"", record.end->result},
            {"exit status", std::to_string(record.end->status)},
            {"restarts", std::to_string(record.end->restarts)},
            {"took", tell_duration(
                         std::chrono::duration<double>(record.end->at - record.started).count())}};
}

Values of_command(const RunRecord& record) {
    std::string line;
    for (const std::string& word : record.command)
        line += (line.empty() ? "" : " ") + shell_word(word);
    return {{"", line}, {"directory", record.directory}, {"muster", record.version}};
}

std::string shown(const std::string& value) { return value.empty() ? "-" : value; }

}  // namespace

std::vector<RunDifference> differences_of(const RunTexts& before, const RunTexts& after) {
    std::vector<RunDifference> found;
    compare(found, "result", of_result(before.record), of_result(after.record));
    compare(found, "command", of_command(before.record), of_command(after.record));
    compare(found, "manifest", of_manifest(before.manifest), of_manifest(after.manifest));
    compare(found, "environment", of_lines(before.environment, '='),
            of_lines(after.environment, '='));
    compare(found, "packages", of_lines(before.packages, ' '), of_lines(after.packages, ' '));
    return found;
}

std::string differences_text(const std::vector<RunDifference>& differences) {
    std::string text;
    std::string section;
    for (const RunDifference& one : differences) {
        if (one.section != section) text += one.section + "\n";
        section = one.section;
        text += fmt::format("  {}{}{} -> {}\n", one.what, one.what.empty() ? "" : ": ",
                            shown(one.before), shown(one.after));
    }
    return text;
}

std::string differences_json(const std::vector<RunDifference>& differences) {
    json::array made;
    for (const RunDifference& one : differences)
        made.emplace_back(json::object{{"section", one.section},
                                       {"what", one.what},
                                       {"before", one.before},
                                       {"after", one.after}});
    return json::serialize(made) + "\n";
}

}  // namespace muster::cli
