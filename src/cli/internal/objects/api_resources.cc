#include "cli/internal/objects/api_resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/lower_case.h"
#include "kube/schema/schema.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

using kube::object_at;
using kube::objects_at;
using kube::string_at;

bool has(const std::vector<std::string>& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

bool is_called(const ApiResource& resource, std::string_view word) {
    return resource.type.plural == word || resource.singular == word ||
           has(resource.short_names, word) || lower_case(resource.type.kind) == word;
}

/// Whether the part after the first dot of a word fits: "batch", "v1.batch", "v1." for the core
/// group.
bool is_of(const kube::ResourceType& type, std::string_view qualifier) {
    return qualifier == type.group || qualifier == type.version + "." + type.group;
}

void add_aggregated_version(std::string_view group, const json::object& version,
                            std::vector<ApiResource>& resources) {
    for (const json::object* entry : objects_at(version, "resources")) {
        const json::object* kind = object_at(*entry, "responseKind");
        ApiResource resource{
            .type = {.group = std::string(group),
                     .version = std::string(string_at(version, "version")),
                     .plural = std::string(string_at(*entry, "resource")),
                     .kind = kind == nullptr ? "" : std::string(string_at(*kind, "kind")),
                     .namespaced = string_at(*entry, "scope") != "Cluster"},
            .singular = std::string(string_at(*entry, "singularResource")),
            .short_names = kube::strings_at(*entry, "shortNames"),
            .categories = kube::strings_at(*entry, "categories"),
            .verbs = kube::strings_at(*entry, "verbs")};
        resources.push_back(std::move(resource));
    }
}

}  // namespace

bool ApiResource::can(std::string_view verb) const { return has(verbs, verb); }

std::string ApiResource::qualified_singular() const {
    const std::string name = singular.empty() ? lower_case(type.kind) : singular;
    return type.group.empty() ? name : name + "." + type.group;
}

Result<std::vector<const ApiResource*>> ResourceCatalog::find(std::string_view word) const {
    const std::string wanted = lower_case(word);
    for (const ApiResource& resource : resources_)
        if (is_called(resource, wanted)) return std::vector{&resource};
    std::string_view qualifier = wanted;
    const std::string_view name = take_field(qualifier, '.');
    for (const ApiResource& resource : resources_)
        if (wanted.find('.') != wanted.npos && is_called(resource, name) &&
            is_of(resource.type, qualifier))
            return std::vector{&resource};
    std::vector<const ApiResource*> several;
    for (const ApiResource& resource : resources_) {
        const auto same = [&](const ApiResource* other) {
            return other->type.group == resource.type.group &&
                   other->type.plural == resource.type.plural;
        };
        if (has(resource.categories, wanted) && std::ranges::none_of(several, same))
            several.push_back(&resource);
    }
    if (!several.empty()) return several;
    std::vector<std::string> known;
    for (const ApiResource& resource : resources_) {
        known.push_back(resource.type.plural);
        known.push_back(resource.singular);
    }
    const std::string nearest = kube::nearest_name(wanted, known);
    return Error(Code::kNotFound,
                 fmt::format("the server has no kind \"{}\"{}", word,
                             nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

const ApiResource* ResourceCatalog::find_kind(std::string_view api_version,
                                              std::string_view kind) const {
    for (const ApiResource& resource : resources_)
        if (resource.type.kind == kind && resource.type.api_version() == api_version)
            return &resource;
    return nullptr;
}

bool add_aggregated(const json::value& document, std::vector<ApiResource>& resources) {
    const json::object* root = document.if_object();
    if (root == nullptr || string_at(*root, "kind") != "APIGroupDiscoveryList") return false;
    for (const json::object* group : objects_at(*root, "items")) {
        const std::string_view name = string_at(kube::metadata_of(*group), "name");
        for (const json::object* version : objects_at(*group, "versions"))
            add_aggregated_version(name, *version, resources);
    }
    return true;
}

void add_resource_list(const json::value& document, std::vector<ApiResource>& resources) {
    const json::object* root = document.if_object();
    if (root == nullptr) return;
    std::string_view version = string_at(*root, "groupVersion");
    const bool grouped = version.find('/') != version.npos;
    const std::string_view group = grouped ? take_field(version, '/') : std::string_view();
    for (const json::object* entry : objects_at(*root, "resources")) {
        const std::string_view name = string_at(*entry, "name");
        if (name.find('/') != name.npos) continue;  // a subresource
        resources.push_back({.type = {.group = std::string(group),
                                      .version = std::string(version),
                                      .plural = std::string(name),
                                      .kind = std::string(string_at(*entry, "kind")),
                                      .namespaced = kube::bool_at(*entry, "namespaced")},
                             .singular = std::string(string_at(*entry, "singularName")),
                             .short_names = kube::strings_at(*entry, "shortNames"),
                             .categories = kube::strings_at(*entry, "categories"),
                             .verbs = kube::strings_at(*entry, "verbs")});
    }
}

std::vector<std::string> group_versions(const json::value& document) {
    std::vector<std::string> versions;
    const json::object* root = document.if_object();
    if (root == nullptr) return versions;
    for (const json::object* group : objects_at(*root, "groups"))
        if (const json::object* preferred = object_at(*group, "preferredVersion"))
            versions.emplace_back(string_at(*preferred, "groupVersion"));
    return versions;
}

}  // namespace muster::cli
