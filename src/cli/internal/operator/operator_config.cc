#include "cli/internal/operator/operator_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/schema/schema.h"
#include "manifest/yaml/yaml_document.h"

namespace muster::cli {

namespace {

/// "leader-elect" -> the flag, if the verb has it.
const KnownFlag* find_flag(const KnownVerb& verb, const std::string& key) {
    const auto found = std::ranges::find_if(verb.flags, [&](const KnownFlag& flag) {
        return (std::ranges::find(flag.names, "--" + key) != flag.names.end());
    });
    return found == verb.flags.end() ? nullptr : &*found;
}

std::string instead_of(const KnownVerb& verb, const std::string& key) {
    std::vector<std::string> known;
    for (const KnownFlag& flag : verb.flags)
        for (const std::string& name : flag.names)
            if (name.starts_with("--")) known.push_back(name.substr(2));
    const std::string nearest = kube::nearest_name(key, known);
    return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

/// Nothing unless it is a string, number or boolean.
std::optional<std::string> scalar_text(const json::value& value) {
    if (const json::string* text = value.if_string())
        return std::string(text->begin(), text->end());
    if (value.is_bool()) return value.get_bool() ? "true" : "false";
    if (value.is_int64()) return fmt::format("{}", value.get_int64());
    if (value.is_uint64()) return fmt::format("{}", value.get_uint64());
    if (value.is_double()) return fmt::format("{}", value.get_double());
    return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> flags_of_config(const std::string& file, const std::string& text,
                                                 const KnownVerb& verb) {
    const manifest::LineIndex lines(text);
    const manifest::YamlDocument document = manifest::parse_yaml_document(text, 0, lines);
    const auto wrong = [&](std::string_view key, std::string_view what) {
        return Error(Code::kInvalid, fmt::format("{}: {} {}", file, key, what));
    };
    if (!document.problems.empty()) {
        const manifest::YamlProblem& problem = document.problems.front();
        return Error(Code::kInvalid, fmt::format("{}:{}:{}: {}", file, problem.place.line,
                                                 problem.place.column, problem.message));
    }
    if (document.value.is_null()) return std::vector<std::string>();
    const json::object* settings = document.value.if_object();
    if (settings == nullptr) return wrong("the file", "has to be a map of flags");
    std::vector<std::string> flags;
    for (const auto& [name, value] : *settings) {
        const std::string key(name);
        const KnownFlag* flag = find_flag(verb, key);
        if (flag == nullptr || key == "config" || key == "help")
            return wrong(key, "is not a flag of 'muster operator'" + instead_of(verb, key));
        const json::array single{value};
        const json::array& all = value.is_array() ? value.get_array() : single;
        for (const json::value& item : all) {
            const auto scalar = scalar_text(item);
            if (!scalar) return wrong(key, "wants a string, a number, true or false, or a list");
            if (!flag->takes_value && *scalar != "true" && *scalar != "false")
                return wrong(key, fmt::format("wants true or false, not \"{}\"", *scalar));
            flags.push_back(fmt::format("--{}={}", key, *scalar));
        }
    }
    return flags;
}

}  // namespace muster::cli
