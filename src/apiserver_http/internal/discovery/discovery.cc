#include "apiserver_http/internal/discovery/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <tuple>

#include "apiserver/aggregation/local_priority.h"
#include "apiserver_http/internal/discovery/subresource_kinds.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kAggregatedVersion = "apidiscovery.k8s.io/v2";

/// The rank of a version's name. The order is that of preference, best first.
struct VersionRank {
    enum class Stability { kStable, kBeta, kAlpha, kOther };
    Stability stability = Stability::kOther;
    std::int64_t major = 0;
    std::int64_t minor = 0;

    friend bool operator<(const VersionRank& a, const VersionRank& b) {
        return std::tuple(a.stability, -a.major, -a.minor) <
               std::tuple(b.stability, -b.major, -b.minor);
    }
};

/// Removes a number without leading zeros from the front.
std::optional<std::int64_t> take_number(std::string_view& text) {
    if (text.empty() || text.front() < '1' || text.front() > '9') return std::nullopt;
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

VersionRank rank_of(std::string_view version) {
    using Stability = VersionRank::Stability;
    if (!version.starts_with('v')) return {};
    version.remove_prefix(1);
    const std::optional<std::int64_t> major = take_number(version);
    if (!major) return {};
    if (version.empty()) return {Stability::kStable, *major, 0};
    Stability stability = Stability::kOther;
    if (version.starts_with("beta")) {
        stability = Stability::kBeta;
        version.remove_prefix(4);
    } else if (version.starts_with("alpha")) {
        stability = Stability::kAlpha;
        version.remove_prefix(5);
    }
    const std::optional<std::int64_t> minor = take_number(version);
    if (stability == Stability::kOther || !minor || !version.empty()) return {};
    return {stability, *major, *minor};
}

/// A served version of a group: by this server, or by another one.
struct ServedVersion {
    std::string name;
    std::vector<apiserver::DefPtr> defs;
    const apiserver::ExtensionServers::Known* extension = nullptr;
    apiserver::DiscoveryPriority priority = {};
};
struct Group {
    std::string name;
    std::vector<ServedVersion> versions;  ///< preferred first
    /// That of the version that comes first, and its name: the order of groups.
    std::int64_t priority = 0;
    std::string first;
};

bool comes_before(const ServedVersion& a, const ServedVersion& b) {
    if (a.priority.version != b.priority.version) return a.priority.version > b.priority.version;
    return is_preferred_version(a.name, b.name);
}

void add_version(std::map<std::string, Group>& groups, const std::string& group,
                 ServedVersion version) {
    Group& into = groups[group];
    const std::string name = fmt::format("{}.{}", version.name, group);
    if (into.versions.empty() || version.priority.group > into.priority ||
        (version.priority.group == into.priority && name < into.first)) {
        into.priority = version.priority.group;
        into.first = name;
    }
    into.name = group;
    const auto behind = std::ranges::find_if(
        into.versions, [&](const ServedVersion& other) { return comes_before(version, other); });
    into.versions.insert(behind, std::move(version));
}

/// The served groups except the core one.
std::vector<Group> served_groups(const apiserver::Registry& registry,
                                 const apiserver::ExtensionServers& extensions) {
    std::map<std::string, Group> groups;
    for (auto& [api_version, defs] : registry.served()) {
        const kube::ResourceType type = defs.front()->type;
        if (type.group.empty() || extensions.find(api_version) != nullptr) continue;
        const apiserver::DiscoveryPriority priority = apiserver::local_priority(*defs.front());
        add_version(groups, type.group, {type.version, std::move(defs), nullptr, priority});
    }
    for (const auto& [api_version, known] : extensions.all())
        add_version(groups, known.server.group,
                    {known.server.version,
                     {},
                     &known,
                     {known.server.group_priority, known.server.version_priority}});
    std::map<std::pair<std::int64_t, std::string>, Group> ordered;
    for (auto& [name, group] : groups) {
        std::pair place{-group.priority, group.first};
        ordered.emplace(std::move(place), std::move(group));
    }
    std::vector<Group> sorted;
    for (auto& [place, group] : ordered) sorted.push_back(std::move(group));
    return sorted;
}

json::array list_of(const std::vector<std::string_view>& texts) {
    return json::array(texts.begin(), texts.end());
}
json::array list_of(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}

/// A custom resource says its group, a built-in one leaves it out.
json::object response_kind(const apiserver::ResourceDef& def) {
    return {{"group", def.custom ? def.type.group : ""},
            {"version", def.custom ? def.type.version : ""},
            {"kind", def.type.kind}};
}

json::object response_kind(const apiserver::ResourceDef& def, const SubresourceKind& sub) {
    if (sub.kind == def.type.kind) return response_kind(def);
    return {{"group", sub.group}, {"version", sub.version}, {"kind", sub.kind}};
}

json::object aggregated_resource(const apiserver::ResourceDef& def) {
    json::object resource{{"resource", def.type.plural},
                          {"responseKind", response_kind(def)},
                          {"scope", def.type.namespaced ? "Namespaced" : "Cluster"},
                          {"singularResource", def.singular},
                          {"verbs", list_of(verbs_of(def))}};
    if (!def.short_names.empty()) resource["shortNames"] = list_of(def.short_names);
    if (!def.categories.empty()) resource["categories"] = list_of(def.categories);
    json::array subresources;
    for (const SubresourceKind& sub : subresources_of(def))
        subresources.push_back(json::object{{"subresource", sub.name},
                                            {"responseKind", response_kind(def, sub)},
                                            {"verbs", list_of(sub.verbs)}});
    if (!subresources.empty()) resource["subresources"] = std::move(subresources);
    return resource;
}

json::object aggregated_version(std::string_view version,
                                const std::vector<apiserver::DefPtr>& defs) {
    json::array resources;
    for (const apiserver::DefPtr& def : defs) resources.push_back(aggregated_resource(*def));
    return {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}};
}

json::object aggregated_version(const ServedVersion& version) {
    if (version.extension == nullptr) return aggregated_version(version.name, version.defs);
    const apiserver::ExtensionServers::Known& known = *version.extension;
    return {{"version", version.name},
            {"resources", known.said == nullptr ? json::array() : known.said->resources},
            {"freshness", known.fresh ? "Current" : "Stale"}};
}

json::object aggregated_list(json::array items) {
    return {{"kind", "APIGroupDiscoveryList"},
            {"apiVersion", kAggregatedVersion},
            {"metadata", json::object()},
            {"items", std::move(items)}};
}

void put_rows(const apiserver::ResourceDef& def, json::array& rows) {
    json::object row{{"name", def.type.plural},
                     {"singularName", def.singular},
                     {"namespaced", def.type.namespaced},
                     {"kind", def.type.kind},
                     {"verbs", list_of(verbs_of(def))}};
    if (!def.short_names.empty()) row["shortNames"] = list_of(def.short_names);
    if (!def.categories.empty()) row["categories"] = list_of(def.categories);
    rows.push_back(std::move(row));
    for (const SubresourceKind& sub : subresources_of(def)) {
        json::object sub_row{{"name", fmt::format("{}/{}", def.type.plural, sub.name)},
                             {"singularName", ""},
                             {"namespaced", def.type.namespaced}};
        if (!sub.version.empty()) {
            sub_row["group"] = sub.group;
            sub_row["version"] = sub.version;
        }
        sub_row["kind"] = sub.kind;
        sub_row["verbs"] = list_of(sub.verbs);
        rows.push_back(std::move(sub_row));
    }
}

json::object group_document(const Group& group) {
    json::array versions;
    for (const ServedVersion& version : group.versions)
        versions.push_back(
            json::object{{"groupVersion", fmt::format("{}/{}", group.name, version.name)},
                         {"version", version.name}});
    json::value preferred = versions.front();
    return {{"name", group.name},
            {"versions", std::move(versions)},
            {"preferredVersion", std::move(preferred)}};
}

std::string_view platform() {
#if defined(__aarch64__)
    return "linux/arm64";
#else
    return "linux/amd64";
#endif
}

}  // namespace

bool is_preferred_version(std::string_view a, std::string_view b) {
    const VersionRank rank_a = rank_of(a);
    const VersionRank rank_b = rank_of(b);
    if (rank_a < rank_b) return true;
    if (rank_b < rank_a) return false;
    return a < b;
}

json::object aggregated_core(const apiserver::Registry& registry) {
    json::array list;
    for (const auto& [api_version, defs] : registry.served())
        if (defs.front()->type.group.empty()) list.push_back(aggregated_version(api_version, defs));
    return aggregated_list(
        {json::object{{"metadata", json::object()}, {"versions", std::move(list)}}});
}

json::object aggregated_groups(const apiserver::Registry& registry,
                               const apiserver::ExtensionServers& extensions) {
    json::array items;
    for (const Group& group : served_groups(registry, extensions)) {
        json::array versions;
        for (const ServedVersion& version : group.versions)
            versions.push_back(aggregated_version(version));
        items.push_back(
            json::object{{"metadata", {{"name", group.name}}}, {"versions", std::move(versions)}});
    }
    return aggregated_list(std::move(items));
}

json::object api_versions(std::string_view server_address) {
    return {{"kind", "APIVersions"},
            {"versions", json::array{"v1"}},
            {"serverAddressByClientCIDRs",
             json::array{
                 json::object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}}}}};
}

json::object api_group_list(const apiserver::Registry& registry,
                            const apiserver::ExtensionServers& extensions) {
    json::array groups;
    for (const Group& group : served_groups(registry, extensions))
        groups.push_back(group_document(group));
    return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<json::object> api_group(const apiserver::Registry& registry,
                                      const apiserver::ExtensionServers& extensions,
                                      std::string_view name) {
    for (const Group& group : served_groups(registry, extensions)) {
        if (group.name != name) continue;
        json::object document{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
        for (auto& [key, value] : group_document(group)) document[key] = std::move(value);
        return document;
    }
    return std::nullopt;
}

std::optional<json::object> api_resource_list(const apiserver::Registry& registry,
                                              std::string_view api_version) {
    const auto served = registry.served();
    const auto it = served.find(std::string(api_version));
    if (it == served.end()) return std::nullopt;
    json::array rows;
    for (const apiserver::DefPtr& def : it->second) put_rows(*def, rows);
    return json::object{{"kind", "APIResourceList"},
                        {"apiVersion", "v1"},
                        {"groupVersion", api_version},
                        {"resources", std::move(rows)}};
}

json::object root_paths(const apiserver::Registry& registry,
                        const apiserver::ExtensionServers& extensions) {
    std::vector<std::string> paths{"/api", "/api/v1", "/apis"};
    for (const Group& group : served_groups(registry, extensions)) {
        paths.push_back("/apis/" + group.name);
        for (const ServedVersion& version : group.versions)
            paths.push_back(fmt::format("/apis/{}/{}", group.name, version.name));
    }
    for (const char* path :
         {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
        paths.emplace_back(path);
    return {{"paths", list_of(paths)}};
}

json::object version_document() {
    return {{"major", kServerMajor}, {"minor", kServerMinor}, {"gitVersion", kServerVersion},
            {"gitCommit", ""},       {"gitTreeState", ""},    {"buildDate", ""},
            {"goVersion", ""},       {"compiler", "clang"},   {"platform", platform()}};
}

std::vector<std::string_view> verbs_of(const apiserver::ResourceDef& def) {
    if (!def.stored) return {"create"};
    if (def.is_metrics) return {"get", "list"};
    if (def.storage_key() == "namespaces")
        return {"create", "delete", "get", "list", "patch", "update", "watch"};
    return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

}  // namespace muster::apiserver_http
