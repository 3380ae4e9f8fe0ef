#include "control_plane/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control_plane/internal/kubeconfig_text.h"
#include "kube/values/base64.h"
#include "kube/values/json_access.h"
#include "manifest/yaml/yaml_document.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::control_plane {

namespace {

constexpr std::string_view kName = "muster";
constexpr std::string_view kUser = "muster-admin";

std::string_view name_of(const json::value& entry) {
    const json::object* object = entry.if_object();
    return object == nullptr ? std::string_view() : kube::string_at(*object, "name");
}

/// The entries of a list; null if it has none.
Result<json::array*> entries_of(json::object& config, std::string_view list) {
    json::value* entries = config.if_contains(list);
    if (entries == nullptr || entries->is_null()) return nullptr;
    if (json::array* array = entries->if_array()) return array;
    return Error(Code::kInvalid, fmt::format("the kubeconfig's \"{}\" is not a list", list));
}

std::optional<std::size_t> index_of(const json::array& entries, std::string_view name) {
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (name_of(entries[i]) == name) return i;
    return std::nullopt;
}

/// A server of this machine, with our user in the file: an earlier state directory's, perhaps.
bool looks_like_ours(const json::object& cluster, json::object& config) {
    const std::string_view server = kube::string_at(cluster, "server");
    const bool is_here =
        std::ranges::any_of(std::array{"https://127.", "https://localhost:", "https://[::1]:"},
                            [&](const char* here) { return server.starts_with(here); });
    const Result<json::array*> users = entries_of(config, "users");
    return is_here && users && *users != nullptr && index_of(**users, kUser);
}

/// Whoever has a cluster of our name that we have not made would lose the way to it.
Result<void> check_cluster(json::object& config, const json::object& ours) {
    TRY(json::array* const clusters, entries_of(config, "clusters"));
    const auto index = clusters == nullptr ? std::nullopt : index_of(*clusters, kName);
    if (!index) return {};
    const json::object* present = kube::object_at((*clusters)[*index].get_object(), "cluster");
    if (present == nullptr) return {};
    constexpr std::string_view kCa = "certificate-authority-data";
    const json::object& made = ours.at("clusters").at(0).at("cluster").get_object();
    if (kube::string_at(*present, kCa) == kube::string_at(made, kCa)) return {};
    if (looks_like_ours(*present, config)) return {};
    return Error(Code::kAlreadyExists,
                 fmt::format("its cluster \"{}\" is another one ({}); rename that, or use the "
                             "kubeconfig of the state directory",
                             kName, kube::string_at(*present, "server")));
}

/// The cluster or user that a context names, or "".
std::string_view part_of(const json::value& entry, std::string_view name) {
    const json::object* object = entry.if_object();
    const json::object* context = object == nullptr ? nullptr : kube::object_at(*object, "context");
    return context == nullptr ? std::string_view() : kube::string_at(*context, name);
}

/// Whoever has a context of our name for another cluster would lose it.
Result<void> check_context(json::object& config) {
    TRY(json::array* const contexts, entries_of(config, "contexts"));
    const auto index = contexts == nullptr ? std::nullopt : index_of(*contexts, kName);
    if (!index) return {};
    const std::string_view cluster = part_of((*contexts)[*index], "cluster");
    if (cluster.empty() || cluster == kName) return {};
    return Error(
        Code::kAlreadyExists,
        fmt::format("its context \"{}\" is for the cluster \"{}\"; rename that context, or "
                    "use the kubeconfig of the state directory",
                    kName, cluster));
}

/// Whoever has a user of our name for another cluster would lose its credentials. Ours is in a context
/// of our cluster; where that context was removed, our cluster is still there.
Result<void> check_user(json::object& config) {
    TRY(json::array* const users, entries_of(config, "users"));
    if (users == nullptr || !index_of(*users, kUser)) return {};
    TRY(json::array* const clusters, entries_of(config, "clusters"));
    TRY(json::array* const contexts, entries_of(config, "contexts"));
    bool is_used = false;
    bool is_ours = false;
    for (const json::value& entry : contexts == nullptr ? json::array() : *contexts) {
        if (part_of(entry, "user") != kUser) continue;
        is_used = true;
        is_ours = is_ours || part_of(entry, "cluster") == kName;
    }
    if (is_ours) return {};
    if (!is_used && clusters != nullptr && index_of(*clusters, kName)) return {};
    return Error(Code::kAlreadyExists,
                 fmt::format("its user \"{}\" belongs to no context of the cluster \"{}\"; rename "
                             "that user, or use the kubeconfig of the state directory",
                             kUser, kName));
}

/// Changes of a text and of its meaning.
struct Merge {
    std::string text;
    json::object config;

    Result<void> put(std::string_view list, const json::value& entry) {
        TRY(json::array* const present, entries_of(config, list));
        const auto index = present == nullptr ? std::nullopt : index_of(*present, name_of(entry));
        text = with_item(text, list, index, manifest::to_yaml(entry));
        json::value& entries = config[list];
        if (present == nullptr) entries.emplace_array();
        if (index)
            entries.get_array()[*index] = entry;
        else
            entries.get_array().push_back(entry);
        return {};
    }
    void make_current() {
        text = with_scalar(text, "current-context", kName);
        config["current-context"] = kName;
    }
};

}  // namespace

json::object make_kubeconfig(const KubeAccess& access) {
    json::object user{{"token", access.token}};
    if (access.client) {
        user["client-certificate-data"] = kube::base64_encode(access.client->certificate);
        user["client-key-data"] = kube::base64_encode(access.client->key);
    }
    return {{"apiVersion", "v1"},
            {"kind", "Config"},
            {"clusters", json::array{json::object{
                             {"name", kName},
                             {"cluster", json::object{{"server", access.server},
                                                      {"certificate-authority-data",
                                                       kube::base64_encode(access.ca_pem)}}}}}},
            {"users", json::array{json::object{{"name", kUser}, {"user", std::move(user)}}}},
            {"contexts",
             json::array{json::object{
                 {"name", kName}, {"context", json::object{{"cluster", kName}, {"user", kUser}}}}}},
            {"current-context", kName}};
}

Result<std::string> merge_kubeconfig(std::string_view existing, const KubeAccess& access) {
    json::object ours = make_kubeconfig(access);
    if (existing.find_first_not_of(" \t\r\n") == existing.npos) return manifest::to_yaml(ours);
    const manifest::LineIndex lines(existing);
    manifest::YamlDocument document = manifest::parse_yaml_document(existing, 0, lines);
    if (!document.problems.empty())
        return Error(Code::kInvalid,
                     fmt::format("line {}: {}", document.problems.front().place.line,
                                 document.problems.front().message));
    json::object* config = document.value.if_object();
    const json::value* kind = config == nullptr ? nullptr : config->if_contains("kind");
    if (kind == nullptr || *kind != "Config")
        return Error(Code::kInvalid, "this is not a kubeconfig: its kind is not Config");
    TRY_VOID(check_cluster(*config, ours));
    TRY_VOID(check_context(*config));
    TRY_VOID(check_user(*config));
    Merge merge{std::string(existing), std::move(*config)};
    for (const std::string_view list : {"clusters", "users", "contexts"})
        TRY_VOID(merge.put(list, ours.at(list).get_array().front()));
    merge.make_current();
    const manifest::LineIndex new_lines(merge.text);
    const manifest::YamlDocument made = manifest::parse_yaml_document(merge.text, 0, new_lines);
    if (made.problems.empty() && made.value == json::value(merge.config)) return merge.text;
    // In this form it has to be written again.
    if (existing.contains('#'))
        return Error(Code::kInvalid,
                     "in its form nothing can be added without losing its comments; use the "
                     "kubeconfig of the state directory, or write its lists with a line for each "
                     "item");
    return manifest::to_yaml(merge.config);
}

}  // namespace muster::control_plane
