#include "apiserver_http/internal/discovery/openapi_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "apiserver_http/internal/discovery/discovery.h"
#include "apiserver_http/internal/discovery/openapi_schemas.h"
#include "apiserver_http/internal/discovery/subresource_kinds.h"

namespace muster::apiserver_http {

namespace {

struct Parameter {
    std::string_view name;
    std::string_view type;
    std::string_view description;
};

constexpr Parameter kPretty{"pretty", "string", "Indents the answer."};
constexpr Parameter kDryRun{"dryRun", "string", "All: decide, but store nothing."};
constexpr Parameter kFieldManager{"fieldManager", "string", "What makes the change."};
constexpr Parameter kFieldValidation{
    "fieldValidation", "string",
    "How to treat unknown and duplicate fields: Ignore, Warn or Strict."};
constexpr Parameter kForce{"force", "boolean", "Of an apply patch: takes over fields of others."};

constexpr Parameter kReadParameters[] = {
    kPretty, {"resourceVersion", "string", "The oldest state to answer with."}};
constexpr Parameter kListParameters[] = {
    kPretty,
    {"allowWatchBookmarks", "boolean", "Asks a watch for bookmarks."},
    {"continue", "string", "Where the page before ended."},
    {"fieldSelector", "string", "Restricts the answer to objects with these fields."},
    {"labelSelector", "string", "Restricts the answer to objects with these labels."},
    {"limit", "integer", "The most objects of one answer."},
    {"resourceVersion", "string", "The state to list, or to watch from."},
    {"resourceVersionMatch", "string", "What resourceVersion means to a list."},
    {"sendInitialEvents", "boolean", "Asks a watch to begin with the present objects."},
    {"timeoutSeconds", "integer", "How long a watch lasts at most."},
    {"watch", "boolean", "Watches instead of listing."}};
constexpr Parameter kWriteParameters[] = {kPretty, kDryRun, kFieldManager, kFieldValidation};
constexpr Parameter kPatchParameters[] = {kPretty, kDryRun, kFieldManager, kFieldValidation,
                                          kForce};
constexpr Parameter kDeleteParameters[] = {
    kPretty,
    kDryRun,
    {"gracePeriodSeconds", "integer", "How long the object has to end."},
    {"orphanDependents", "boolean", "Outdated: see propagationPolicy."},
    {"propagationPolicy", "string", "What happens to dependents: Orphan, Background, Foreground."}};

/// A verb of discovery, and its operation.
struct Verb {
    std::string_view name;
    std::string_view method;  ///< of HTTP
    std::span<const Parameter> parameters;
};
const Verb kVerbs[] = {{"get", "get", kReadParameters},
                       {"list", "get", kListParameters},
                       {"create", "post", kWriteParameters},
                       {"update", "put", kWriteParameters},
                       {"patch", "patch", kPatchParameters},
                       {"delete", "delete", kDeleteParameters},
                       {"deletecollection", "delete", kDeleteParameters}};

json::object parameter(std::string_view name, std::string_view in, std::string_view type,
                       std::string_view description) {
    json::object out{{"name", name},
                     {"in", in},
                     {"description", description},
                     {"schema", {{"type", type}, {"uniqueItems", true}}}};
    if (in == "path") out["required"] = true;
    return out;
}

/// Where a document puts the operations of one path.
struct PathOf {
    const apiserver::ResourceDef& def;
    std::string path;
    std::string suffix;  ///< of the operations' names
    /// The kind that the operations work on.
    std::string_view group;
    std::string_view version;
    std::string_view kind;
    std::string component;  ///< of what they take and answer with; "": not described
};

json::object content(std::string_view media_type, std::string_view component) {
    json::object media;
    if (!component.empty()) media["schema"] = {{"$ref", component_path(component)}};
    return {{media_type, std::move(media)}};
}

json::object patch_content(const apiserver::ResourceDef& def) {
    json::object types;
    for (const char* type :
         {"application/apply-patch+yaml", "application/json-patch+json",
          "application/merge-patch+json", "application/strategic-merge-patch+json"})
        types[type] = {{"schema", {{"$ref", component_path(kPatchComponent)}}}};
    if (def.custom) types.erase("application/strategic-merge-patch+json");
    return types;
}

json::object operation(const PathOf& at, const Verb& verb) {
    json::array parameters;
    for (const Parameter& one : verb.parameters)
        parameters.push_back(parameter(one.name, "query", one.type, one.description));
    json::object out{{"operationId", fmt::format("{}{}", verb.name, at.suffix)},
                     {"parameters", std::move(parameters)},
                     {"x-kubernetes-action", verb.name},
                     {"x-kubernetes-group-version-kind",
                      {{"group", at.group}, {"version", at.version}, {"kind", at.kind}}}};
    if (verb.name == "patch")
        out["requestBody"] = {{"required", true}, {"content", patch_content(at.def)}};
    else if (verb.name == "create" || verb.name == "update")
        out["requestBody"] = {{"required", true}, {"content", content("*/*", at.component)}};
    const bool deletes = verb.method == "delete";
    const std::string answer = deletes               ? std::string()
                               : verb.name == "list" ? component_name(at.def, at.def.list_kind)
                                                     : at.component;
    out["responses"] = {{verb.name == "create" ? "201" : "200",
                         {{"description", verb.name == "create" ? "Created" : "OK"},
                          {"content", content("application/json", answer)}}}};
    return out;
}

void add_path(const PathOf& at, std::span<const std::string_view> verbs, bool named,
              json::object& paths) {
    json::object item;
    for (const Verb& verb : kVerbs)
        if (std::ranges::find(verbs, verb.name) != verbs.end())
            item[verb.method] = operation(at, verb);
    if (item.empty()) return;
    json::array parameters;
    if (named) parameters.push_back(parameter("name", "path", "string", "The object's name."));
    if (at.path.find("{namespace}") != std::string::npos)
        parameters.push_back(
            parameter("namespace", "path", "string", "The namespace of the objects."));
    if (!parameters.empty()) item["parameters"] = std::move(parameters);
    paths[at.path] = std::move(item);
}

/// "CoreV1", "KubeflowOrgV1".
std::string camel(std::string_view text) {
    std::string out;
    bool upper = true;
    for (const char c : text) {
        if (c == '.' || c == '/' || c == '-') {
            upper = true;
            continue;
        }
        out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        upper = false;
    }
    return out;
}

std::vector<std::string_view> of_both(const std::vector<std::string_view>& served,
                                      std::initializer_list<std::string_view> wanted) {
    std::vector<std::string_view> both;
    for (const std::string_view verb : wanted)
        if (std::ranges::find(served, verb) != served.end()) both.push_back(verb);
    return both;
}

}  // namespace

void add_paths(const apiserver::ResourceDef& def, json::object& paths) {
    const kube::ResourceType& type = def.type;
    const std::vector<std::string_view> served = verbs_of(def);
    const std::string api = camel(type.group.empty() ? "core" : type.group) + camel(type.version);
    const std::string scope = type.namespaced ? "Namespaced" : "";
    const std::string component = component_name(def, type.kind);
    const std::string collection = type.path("{namespace}");
    const PathOf whole{def,       collection, api + scope + type.kind, type.group, type.version,
                       type.kind, component};
    add_path(whole, of_both(served, {"list", "create", "deletecollection"}), false, paths);
    if (type.namespaced) {
        PathOf everywhere = whole;
        everywhere.path = type.path("");
        everywhere.suffix = api + type.kind + "ForAllNamespaces";
        add_path(everywhere, of_both(served, {"list"}), false, paths);
    }
    PathOf one = whole;
    one.path = collection + "/{name}";
    add_path(one, of_both(served, {"get", "update", "patch", "delete"}), true, paths);
    for (const SubresourceKind& sub : subresources_of(def)) {
        PathOf at = whole;
        at.path = fmt::format("{}/{{name}}/{}", collection, sub.name);
        at.suffix = api + scope + type.kind + camel(sub.name);
        if (!sub.version.empty()) {
            at.group = sub.group;
            at.version = sub.version;
        }
        at.kind = sub.kind;
        if (sub.kind != type.kind) at.component.clear();
        add_path(at, sub.verbs, true, paths);
    }
}

}  // namespace muster::apiserver_http
