#include "control_plane/kubeconfig.h"

#include <fmt/format.h>

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

/// Replaces the entry with the same name, or appends it.
Result<void> put(json::object& config, std::string_view list, const json::value& entry) {
    json::value& entries = config[list];
    if (entries.is_null()) entries.emplace_array();
    json::array* array = entries.if_array();
    if (array == nullptr)
        return Error(Code::kInvalid, fmt::format("the kubeconfig's \"{}\" is not a list", list));
    for (json::value& present : *array) {
        if (name_of(present) != name_of(entry)) continue;
        present = entry;
        return {};
    }
    array->push_back(entry);
    return {};
}

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
    for (const std::string_view list : {"clusters", "users", "contexts"})
        TRY_VOID(put(*config, list, ours.at(list).get_array().front()));
    (*config)["current-context"] = kName;
    return manifest::to_yaml(*config);
}

}  // namespace muster::control_plane
