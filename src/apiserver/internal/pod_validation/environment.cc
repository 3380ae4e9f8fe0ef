#include "apiserver/internal/pod_validation/environment.h"

#include <algorithm>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostDataKey = 253;
constexpr std::string_view kVariableMessage =
    "a valid environment variable name must consist only of printable ASCII characters other than "
    "'='";

const std::vector<std::string_view> kFieldsOfVariables{"metadata.name",
                                                       "metadata.namespace",
                                                       "metadata.uid",
                                                       "spec.nodeName",
                                                       "spec.serviceAccountName",
                                                       "status.hostIP",
                                                       "status.hostIPs",
                                                       "status.podIP",
                                                       "status.podIPs"};

/// What a reference may name at all; some of it not everywhere.
bool is_field_of_pods(std::string_view path) {
    return path == "metadata.labels" || path == "metadata.annotations" ||
           path == "spec.restartPolicy" || path == "spec.schedulerName" ||
           path == "spec.hostNetwork" || path == "status.phase" ||
           path == "status.nominatedNodeName" ||
           std::ranges::find(kFieldsOfVariables, path) != kFieldsOfVariables.end();
}

void check_key_reference(const json::object& reference, const std::string& field,
                         FieldErrors& field_errors) {
    check_dns_subdomain(string_at(reference, "name"), field + ".name", field_errors);
    check_data_key(string_at(reference, "key"), field + ".key", field_errors);
}

void check_variable_source(const json::object& source, const std::string& field,
                           FieldErrors& field_errors) {
    if (const json::object* reference = object_at(source, "fieldRef"))
        check_field_reference(*reference, kFieldsOfVariables, field + ".fieldRef", field_errors);
    if (const json::object* reference = object_at(source, "resourceFieldRef"))
        check_resource_reference(*reference, false, field + ".resourceFieldRef", field_errors);
    for (const char* key : {"configMapKeyRef", "secretKeyRef"})
        if (const json::object* reference = object_at(source, key))
            check_key_reference(*reference, fmt::format("{}.{}", field, key), field_errors);
}

void check_variable(const json::object& variable, const std::string& in,
                    FieldErrors& field_errors) {
    const std::string_view name = string_at(variable, "name");
    if (name.empty())
        field_errors.push_back(required(in + ".name"));
    else if (!kube::is_env_name(name))
        field_errors.push_back(invalid_value(in + ".name", json::value(name), kVariableMessage));
    const json::object* source = object_at(variable, "valueFrom");
    if (source == nullptr) return;
    const std::string field = in + ".valueFrom";
    const auto refuse = [&](std::string_view why) {
        field_errors.push_back(invalid_value(field, json::value(""), why));
    };
    check_variable_source(*source, field, field_errors);
    if (source->empty())
        refuse(
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
            "`secretKeyRef`");
    else if (!string_at(variable, "value").empty())
        refuse("may not be specified when `value` is not empty");
    else if (source->size() > 1)
        refuse("may not have more than one field specified at a time");
}

void check_variable_set(const json::object& set, const std::string& list, const std::string& field,
                        FieldErrors& field_errors) {
    if (const std::string_view prefix = string_at(set, "prefix");
        !prefix.empty() && !kube::is_env_name(prefix))
        field_errors.push_back(
            invalid_value(field + ".prefix", json::value(prefix), kVariableMessage));
    int sources = 0;
    for (const char* key : {"configMapRef", "secretRef"}) {
        const json::object* source = object_at(set, key);
        if (source == nullptr) continue;
        ++sources;
        const std::string_view name = string_at(*source, "name");
        const std::string at = fmt::format("{}.{}.name", field, key);
        if (name.empty())
            field_errors.push_back(required(at));
        else
            check_dns_subdomain(name, at, field_errors);
    }
    if (sources == 0)
        field_errors.push_back(invalid_value(list, json::value(""),
                                             "must specify one of: `configMapRef` or `secretRef`"));
    if (sources > 1)
        field_errors.push_back(invalid_value(
            list, json::value(""), "may not have more than one field specified at a time"));
}

/// metadata.labels['x'] and the same of annotations. True if it is one of these.
bool check_map_reference(std::string_view path, const std::string& field,
                         FieldErrors& field_errors) {
    const bool label = path.starts_with("metadata.labels['");
    if (!(label || path.starts_with("metadata.annotations['")) || !path.ends_with("']"))
        return false;
    const std::size_t start = path.find('\'') + 1;
    if (path.size() < start + 2) return false;
    std::string key(path.substr(start, path.size() - start - 2));
    // Annotations are compared without case.
    if (!label)
        std::ranges::transform(key, key.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        });
    check_qualified_name(key, field, field_errors);
    return true;
}

bool is_of_pages(std::string_view resource) {
    return resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
}

/// What the shown amount of a resource is counted in.
void check_divisor(const json::object& reference, std::string_view resource,
                   const std::string& field, FieldErrors& field_errors) {
    const json::value* divisor = reference.if_contains("divisor");
    if (divisor == nullptr) return;
    const auto quantity = kube::Quantity::parse(*divisor);
    if (!quantity || quantity->is_zero()) return;
    const std::string text = quantity->to_string();
    const std::string_view kind = resource.substr(std::min(resource.find('.'), resource.size()));
    if (kind == ".cpu") {
        if (text != "1" && text != "1m")
            field_errors.push_back(invalid_value(
                field + ".divisor", json::value(resource),
                "only divisor's values 1m and 1 are supported with the cpu resource"));
        return;
    }
    const std::string_view words = kind == ".memory"              ? "memory"
                                   : kind == ".ephemeral-storage" ? "local ephemeral storage"
                                   : is_of_pages(resource)        ? "hugepages"
                                                                  : "";
    constexpr std::string_view kUnits = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    if (words.empty() || fmt::format("{},", kUnits).find(text + ",") != std::string::npos) return;
    field_errors.push_back(invalid_value(
        field + ".divisor", json::value(resource),
        fmt::format("only divisor's values {} are supported with the {} resource", kUnits, words)));
}

}  // namespace

void check_data_key(std::string_view key, const std::string& field, FieldErrors& field_errors) {
    const bool known = std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
    if (key.empty()) {
        field_errors.push_back(required(field));
        return;
    }
    const auto refuse = [&](std::string_view why) {
        field_errors.push_back(invalid_value(field, json::value(key), why));
    };
    if (key.size() > kMostDataKey) refuse("must be no more than 253 characters");
    if (!known)
        refuse(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
            "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            "'[-._a-zA-Z0-9]+')");
    if (key == "." || key == "..")
        refuse(fmt::format("must not be '{}'", key));
    else if (key.starts_with(".."))
        refuse("must not start with '..'");
}

void check_field_reference(const json::object& reference,
                           const std::vector<std::string_view>& fields, const std::string& field,
                           FieldErrors& field_errors) {
    const std::string_view path = string_at(reference, "fieldPath");
    const std::string at = field + ".fieldPath";
    if (path.empty()) {
        field_errors.push_back(required(at));
        return;
    }
    if (const std::string_view version = string_at(reference, "apiVersion");
        !version.empty() && version != "v1") {
        field_errors.push_back(invalid_value(
            at, json::value(path),
            fmt::format("error converting fieldPath: unsupported pod version: {}", version)));
        return;
    }
    if (check_map_reference(path, field, field_errors)) return;
    if (!is_field_of_pods(path))
        field_errors.push_back(invalid_value(
            at, json::value(path),
            fmt::format("error converting fieldPath: field label not supported: {}", path)));
    else if (std::ranges::find(fields, path) == fields.end())
        field_errors.push_back(not_supported(at, path, fields));
}

void check_resource_reference(const json::object& reference, bool names_container,
                              const std::string& field, FieldErrors& field_errors) {
    const std::string_view resource = string_at(reference, "resource");
    static const std::vector<std::string_view> kResources{
        "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
        "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
    if (names_container && string_at(reference, "containerName").empty())
        field_errors.push_back(required(field + ".containerName"));
    else if (resource.empty())
        field_errors.push_back(required(field + ".resource"));
    else if (std::ranges::find(kResources, resource) == kResources.end() && !is_of_pages(resource))
        field_errors.push_back(not_supported(field + ".resource", resource, kResources));
    check_divisor(reference, resource, field, field_errors);
}

void check_environment(const json::object& container, const std::string& field,
                       FieldErrors& field_errors) {
    const auto variables = objects_at(container, "env");
    for (std::size_t i = 0; i < variables.size(); ++i)
        check_variable(*variables[i], fmt::format("{}.env[{}]", field, i), field_errors);
    const auto sets = objects_at(container, "envFrom");
    const std::string list = field + ".envFrom";
    for (std::size_t i = 0; i < sets.size(); ++i)
        check_variable_set(*sets[i], list, fmt::format("{}[{}]", list, i), field_errors);
}

}  // namespace muster::apiserver
