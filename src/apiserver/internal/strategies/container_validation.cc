#include "apiserver/internal/strategies/container_validation.h"

#include "apiserver/internal/strategies/volume_validation.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

/// The path of an item of a container's list; made only if something is wrong with it.
struct FieldOf {
    const std::string& container;
    std::string_view list;
    std::size_t index;

    std::string operator()(std::string_view rest) const {
        return fmt::format("{}.{}[{}]{}", container, list, index, rest);
    }
};

/// The schema checks that the port exists at all.
void check_port_number(const json::object& port, const char* key, const FieldOf& field,
                       bool optional, FieldErrors& field_errors) {
    const auto number = int_at(port, key);
    if (!number || (optional && *number == 0)) return;
    if (*number < 1 || *number > 65535)
        field_errors.push_back(invalid_value(field(fmt::format(".{}", key)), json::value(*number),
                                             "must be between 1 and 65535, inclusive"));
}

void check_ports(const json::object& container, const std::string& field,
                 FieldErrors& field_errors) {
    const json::array* ports = array_at(container, "ports");
    if (ports == nullptr) return;
    std::set<std::string> names;
    for (std::size_t i = 0; i < ports->size(); ++i) {
        const json::object* port = (*ports)[i].if_object();
        if (port == nullptr) continue;
        const FieldOf at{field, "ports", i};
        check_port_number(*port, "containerPort", at, false, field_errors);
        check_port_number(*port, "hostPort", at, true, field_errors);
        const std::string name(string_at(*port, "name"));
        if (!name.empty()) {
            if (!kube::is_port_name(name))
                field_errors.push_back(invalid_value(
                    at(".name"), json::value(name),
                    "must be no more than 15 characters, contain only alpha-numeric characters "
                    "(a-z, 0-9), and hyphens ('-'), with at least one letter (a-z)"));
            else if (!names.insert(name).second)
                field_errors.push_back(duplicate(at(".name"), json::value(name)));
        }
        const std::string_view protocol = string_at(*port, "protocol");
        if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
            field_errors.push_back(
                not_supported(at(".protocol"), protocol, {"SCTP", "TCP", "UDP"}));
    }
}

void check_env(const json::object& container, const std::string& field, FieldErrors& field_errors) {
    const json::array* env = array_at(container, "env");
    if (env == nullptr) return;
    for (std::size_t i = 0; i < env->size(); ++i) {
        const json::object* entry = (*env)[i].if_object();
        if (entry == nullptr) continue;
        const FieldOf at{field, "env", i};
        const std::string_view name = string_at(*entry, "name");
        if (name.empty())
            field_errors.push_back(required(at(".name")));
        else if (!kube::is_env_name(name))
            field_errors.push_back(invalid_value(
                at(".name"), json::value(name),
                "a valid environment variable name must consist only of printable ASCII "
                "characters other than '='"));
        const json::object* source = object_at(*entry, "valueFrom");
        if (source == nullptr) continue;
        if (source->empty())
            field_errors.push_back(invalid_value(
                at(".valueFrom"), json::value(""),
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                "`secretKeyRef` or `fileKeyRef`"));
        else if (source->size() > 1)
            field_errors.push_back(
                invalid_value(at(".valueFrom"), json::value(""),
                              "may not have more than one field specified at a time"));
        if (!string_at(*entry, "value").empty())
            field_errors.push_back(invalid_value(at(".valueFrom"), json::value(""),
                                                 "may not be specified when `value` is not empty"));
    }
}

void check_mounts(const json::object& container, const std::string& field, const PodNames& names,
                  FieldErrors& field_errors) {
    const json::array* mounts = array_at(container, "volumeMounts");
    if (mounts == nullptr) return;
    std::set<std::string> paths;
    for (std::size_t i = 0; i < mounts->size(); ++i) {
        const json::object* mount = (*mounts)[i].if_object();
        if (mount == nullptr) continue;
        const FieldOf at{field, "volumeMounts", i};
        const std::string_view name = string_at(*mount, "name");
        if (name.empty())
            field_errors.push_back(required(at(".name")));
        else if (!names.volumes.contains(name))
            field_errors.push_back(not_found_value(at(".name"), json::value(name)));
        const std::string path(string_at(*mount, "mountPath"));
        if (path.empty())
            field_errors.push_back(required(at(".mountPath")));
        else if (!paths.insert(path).second)
            field_errors.push_back(
                invalid_value(at(".mountPath"), json::value(path), "must be unique"));
        const std::string_view sub = string_at(*mount, "subPath");
        const std::string_view expression = string_at(*mount, "subPathExpr");
        check_descending_path(sub, at(".subPath"), field_errors);
        check_descending_path(expression, at(".subPathExpr"), field_errors);
        if (!sub.empty() && !expression.empty())
            field_errors.push_back(invalid_value(at(".subPathExpr"), json::value(expression),
                                                 "subPathExpr and subPath are mutually exclusive"));
    }
}

void check_resource_list(const json::object& resources, std::string_view kind,
                         const std::string& field, FieldErrors& field_errors) {
    const json::object* list = object_at(resources, kind);
    if (list == nullptr) return;
    for (const auto& entry : *list) {
        const std::string_view name = entry.key();
        const auto at = [&] { return fmt::format("{}.resources.{}", field, kind); };
        if (!is_qualified_name(name))
            field_errors.push_back(invalid_value(at(), json::value(name), kQualifiedNameMessage));
        else if (name.find('/') == std::string_view::npos && name != "cpu" && name != "memory" &&
                 name != "ephemeral-storage" && name != "storage" &&
                 !name.starts_with("hugepages-"))
            field_errors.push_back(invalid_value(at(), json::value(name),
                                                 "must be a standard resource for containers"));
        const auto quantity = kube::Quantity::parse(entry.value());
        const auto key = [&] { return fmt::format("{}[{}]", at(), name); };
        if (!quantity)
            field_errors.push_back(invalid_value(key(), entry.value(), quantity.error().message()));
        else if (quantity->is_negative())
            field_errors.push_back(
                invalid_value(key(), entry.value(), "must be greater than or equal to 0"));
        else if (!kube::is_native_resource(name) && quantity->ceil_milli() % 1000 != 0)
            field_errors.push_back(invalid_value(key(), entry.value(), "must be an integer"));
    }
}

void check_resources(const json::object& container, const std::string& field,
                     FieldErrors& field_errors) {
    const json::object* resources = object_at(container, "resources");
    if (resources == nullptr) return;
    check_resource_list(*resources, "limits", field, field_errors);
    check_resource_list(*resources, "requests", field, field_errors);
    const json::object* limits = object_at(*resources, "limits");
    const json::object* requests = object_at(*resources, "requests");
    if (requests == nullptr) return;
    for (const auto& entry : *requests) {
        const std::string_view name = entry.key();
        const json::value* limit = limits == nullptr ? nullptr : limits->if_contains(name);
        if (limit == nullptr) {
            if (!kube::is_native_resource(name))
                field_errors.push_back(
                    required(field + ".resources.limits",
                             "Limit must be set for non overcommitable resources"));
            continue;
        }
        const auto wanted = kube::Quantity::parse(entry.value());
        const auto allowed = kube::Quantity::parse(*limit);
        if (!wanted || !allowed) continue;
        if (!kube::is_native_resource(name) && *wanted != *allowed)
            field_errors.push_back(invalid_value(
                field + ".resources.requests", json::value(wanted->to_string()),
                fmt::format("must be equal to {} limit of {}", name, allowed->to_string())));
        else if (*wanted > *allowed)
            field_errors.push_back(
                invalid_value(field + ".resources.requests", json::value(wanted->to_string()),
                              fmt::format("must be less than or equal to {} limit of {}", name,
                                          allowed->to_string())));
    }
}

}  // namespace

void check_container(const json::object& container, const std::string& field, PodNames& names,
                     FieldErrors& field_errors) {
    const std::string name(string_at(container, "name"));
    if (name.empty())
        field_errors.push_back(required(field + ".name"));
    else if (!kube::is_dns1123_label(name))
        field_errors.push_back(invalid_value(field + ".name", json::value(name), kDnsLabelMessage));
    else if (!names.containers.insert(name).second)
        field_errors.push_back(duplicate(field + ".name", json::value(name)));
    const std::string_view image = string_at(container, "image");
    if (image.empty())
        field_errors.push_back(required(field + ".image"));
    else if (image.front() == ' ' || image.back() == ' ')
        field_errors.push_back(invalid_value(field + ".image", json::value(image),
                                             "must not have leading or trailing whitespace"));
    const std::string_view pull = string_at(container, "imagePullPolicy");
    if (pull != "Always" && pull != "IfNotPresent" && pull != "Never")
        field_errors.push_back(
            not_supported(field + ".imagePullPolicy", pull, {"Always", "IfNotPresent", "Never"}));
    check_ports(container, field, field_errors);
    check_env(container, field, field_errors);
    check_mounts(container, field, names, field_errors);
    check_resources(container, field, field_errors);
}

}  // namespace muster::apiserver
