#include "cli/internal/connect/kubeconfig_merge.h"

#include <fmt/format.h>

#include "kube/values/json_access.h"
#include "manifest/yaml/yaml_document.h"

namespace muster::cli {

namespace {

Error wrong(const std::string& file, std::string_view field, std::string_view what) {
    return Error(Code::kInvalid, fmt::format("{}: {} {}", file, field, what));
}

Result<json::object> parse_config(const KubeconfigText& config) {
    if (config.text.find_first_not_of(" \t\r\n") == std::string::npos) return json::object();
    const manifest::LineIndex lines(config.text);
    manifest::YamlDocument document = manifest::parse_yaml_document(config.text, 0, lines);
    if (!document.problems.empty()) {
        const manifest::YamlProblem& problem = document.problems.front();
        return Error(Code::kInvalid, fmt::format("{}:{}:{}: {}", config.file, problem.place.line,
                                                 problem.place.column, problem.message));
    }
    if (document.value.is_null()) return json::object();
    json::object* object = document.value.if_object();
    if (object == nullptr)
        return wrong(config.file, "the file", "is not a kubeconfig: it is not a map");
    // Other clients also accept one without a kind.
    const std::string_view kind = kube::string_at(*object, "kind");
    if (object->contains("kind") && kind != "Config")
        return wrong(config.file, "kind", fmt::format("is \"{}\", not Config", kind));
    return std::move(*object);
}

/// Adds the entries of `list`, each `{name: NAME, FIELD: {...}}`, that do not exist yet.
Result<void> add_entries(const std::string& file, const json::object& config, std::string_view list,
                         std::string_view field,
                         std::map<std::string, kube::KubeconfigEntry>& entries) {
    const json::value* value = config.if_contains(list);
    if (value == nullptr || value->is_null()) return {};
    if (!value->is_array()) return wrong(file, list, "has to be a list");
    std::size_t index = 0;
    for (const json::value& item : value->get_array()) {
        const std::string at = fmt::format("{}[{}]", list, index++);
        const json::object* object = item.if_object();
        if (object == nullptr) return wrong(file, at, "has to be a map with a name");
        const std::string name(kube::string_at(*object, "name"));
        if (name.empty()) return wrong(file, at + ".name", "is missing or not a string");
        const json::value* fields = object->if_contains(field);
        if (fields != nullptr && !fields->is_null() && !fields->is_object())
            return wrong(file, fmt::format("{}.{}", at, field), "has to be a map");
        kube::KubeconfigEntry entry{file, {}};
        if (fields != nullptr && fields->is_object()) entry.fields = fields->get_object();
        entries.emplace(name, std::move(entry));
    }
    return {};
}

}  // namespace

Result<kube::MergedKubeconfig> merge_kubeconfigs(const std::vector<KubeconfigText>& texts) {
    kube::MergedKubeconfig merged;
    for (const KubeconfigText& text : texts) {
        TRY(const json::object config, parse_config(text));
        merged.files.push_back(text.file);
        if (merged.current_context.empty())
            merged.current_context = kube::string_at(config, "current-context");
        TRY_VOID(add_entries(text.file, config, "clusters", "cluster", merged.clusters));
        TRY_VOID(add_entries(text.file, config, "users", "user", merged.users));
        TRY_VOID(add_entries(text.file, config, "contexts", "context", merged.contexts));
    }
    return merged;
}

}  // namespace muster::cli
