#include "apiserver/aggregation/extension_action.h"

namespace muster::apiserver {

namespace {

/// Beyond these a path names nothing else: the resource, its name and its subresource.
constexpr std::size_t kMostParts = 16;

std::vector<std::string_view> path_parts(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty() && parts.size() < kMostParts) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        if (slash > 0) parts.push_back(path.substr(0, slash));
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return parts;
}

std::string_view query_value(const std::vector<std::pair<std::string, std::string>>& query,
                             std::string_view key) {
    for (const auto& [name, value] : query)
        if (name == key) return value;
    return {};
}

bool wants_watch(const std::vector<std::pair<std::string, std::string>>& query) {
    for (const auto& [name, value] : query)
        if (name == "watch") return value != "false" && value != "0";
    return false;
}

}  // namespace

Action action_on_extension(std::string_view path, kube::Method method,
                           const std::vector<std::pair<std::string, std::string>>& query) {
    std::vector<std::string_view> parts = path_parts(path);
    constexpr std::size_t kFirst = 3;  // after apis, the group and the version
    if (parts.size() <= kFirst) return action_on_path(std::string(path), method);
    Action action;
    action.group = parts[1];
    std::size_t at = kFirst;
    if (parts[at] == "namespaces" && parts.size() > at + 1) {
        action.namespace_ = parts[at + 1];
        // namespaces/NAME/status is about the Namespace, whoever serves it.
        if (parts.size() > at + 2 && parts[at + 2] != "status" && parts[at + 2] != "finalize")
            at += 2;
    }
    action.resource = parts[at];
    if (parts.size() > at + 1) action.name = parts[at + 1];
    if (parts.size() > at + 2) action.subresource = parts[at + 2];
    const bool collection = action.name.empty();
    action.verb = verb_of(method, collection, wants_watch(query));
    if (collection && action.verb != "create")
        action.name = selected_name(query_value(query, "fieldSelector"));
    return action;
}

}  // namespace muster::apiserver
