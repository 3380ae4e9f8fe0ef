#include "apiserver/internal/strategies/container_validation.h"

#include "apiserver/internal/pod_validation/environment.h"
#include "apiserver/internal/pod_validation/handlers.h"
#include "apiserver/internal/pod_validation/security.h"
#include "apiserver/internal/pod_validation/value_checks.h"
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
    if (!number || *number == 0) {
        if (number && !optional) field_errors.push_back(required(field(fmt::format(".{}", key))));
        return;
    }
    if (*number < 1 || *number > kMostPort)
        field_errors.push_back(invalid_value(field(fmt::format(".{}", key)), json::value(*number),
                                             "must be between 1 and 65535, inclusive"));
}

/// No two containers of a pod can have one port of its host.
void check_host_port(const json::object& port, const FieldOf& field, bool host_network,
                     PodNames& names, FieldErrors& field_errors) {
    const std::int64_t number = int_at(port, "hostPort").value_or(0);
    if (number == 0) return;
    if (host_network && number != int_at(port, "containerPort"))
        field_errors.push_back(
            invalid_value(field(".hostPort"), json::value(number),
                          "must match `containerPort` when `hostNetwork` is true"));
    const std::string key =
        fmt::format("{}/{}/{}", string_at(port, "protocol"), string_at(port, "hostIP"), number);
    if (!names.host_ports.insert(key).second)
        field_errors.push_back(duplicate(field(".hostPort"), json::value(key)));
}

void check_ports(const json::object& container, const std::string& field, PodNames& in_pod,
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
        check_host_port(*port, at, in_pod.host_network, in_pod, field_errors);
        if (!name.empty()) {
            if (!kube::is_port_name(name))
                check_port_name(name, at(".name"), field_errors);
            else if (!names.insert(name).second)
                field_errors.push_back(duplicate(at(".name"), json::value(name)));
        }
        const std::string_view protocol = string_at(*port, "protocol");
        if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
            field_errors.push_back(
                not_supported(at(".protocol"), protocol, {"SCTP", "TCP", "UDP"}));
    }
}

bool is_privileged(const json::object& container) {
    return bool_at(child(container, "securityContext"), "privileged");
}

void check_propagation_of(const json::object& mount, bool privileged, const std::string& field,
                          FieldErrors& field_errors) {
    check_choice(mount, "mountPropagation", {"Bidirectional", "HostToContainer", "None"}, field,
                 field_errors);
    if (string_at(mount, "mountPropagation") == "Bidirectional" && !privileged)
        field_errors.push_back(forbidden_field(
            field + ".mountPropagation",
            "Bidirectional mount propagation is available only to privileged containers"));
    const std::string_view recursive = string_at(mount, "recursiveReadOnly");
    if (recursive.empty() || recursive == "Disabled") return;
    check_choice(mount, "recursiveReadOnly", {"Disabled", "Enabled", "IfPossible"}, field,
                 field_errors);
    if (!bool_at(mount, "readOnly"))
        field_errors.push_back(forbidden_field(field + ".recursiveReadOnly",
                                               "may only be specified when readOnly is true"));
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
        // Upstream's paths of these do not say which mount it is.
        const std::string all = field + ".volumeMounts";
        check_descending_path(sub, all + ".subPath", field_errors);
        check_descending_path(expression, all + ".subPathExpr", field_errors);
        if (!sub.empty() && !expression.empty())
            field_errors.push_back(invalid_value(all + ".subPathExpr", json::value(expression),
                                                 "subPathExpr and subPath are mutually exclusive"));
        check_propagation_of(*mount, is_privileged(container), all, field_errors);
    }
}

void check_devices(const json::object& container, const std::string& field, const PodNames& names,
                   FieldErrors& field_errors) {
    const auto devices = objects_at(container, "volumeDevices");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const FieldOf at{field, "volumeDevices", i};
        const std::string_view name = string_at(*devices[i], "name");
        if (name.empty())
            field_errors.push_back(required(at(".name")));
        else if (!names.volumes.contains(name))
            field_errors.push_back(not_found_value(at(".name"), json::value(name)));
        else if (!names.claims.contains(name))
            field_errors.push_back(
                invalid_value(at(".name"), json::value(name),
                              "can only use volume source type of PersistentVolumeClaim or "
                              "Ephemeral for block mode"));
        if (string_at(*devices[i], "devicePath").empty())
            field_errors.push_back(required(at(".devicePath")));
    }
}

/// What only containers that stay may have, and what no container but an init container.
void check_restart(const json::object& container, bool init, const std::string& field,
                   FieldErrors& field_errors) {
    const json::value* policy = container.if_contains("restartPolicy");
    if (!init) {
        if (policy != nullptr)
            field_errors.push_back(forbidden_field(field + ".restartPolicy",
                                                   "may not be set for non-init containers"));
        return;
    }
    if (policy != nullptr)
        check_choice(container, "restartPolicy", {"Always"}, field, field_errors);
    if (string_at(container, "restartPolicy") == "Always") return;
    for (const char* key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})
        if (container.contains(key))
            field_errors.push_back(
                forbidden_field(fmt::format("{}.{}", field, key),
                                "may not be set for init containers without restartPolicy=Always"));
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
                 name != "ephemeral-storage" && !name.starts_with("hugepages-"))
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

void check_container(const json::object& container, const json::object& spec, bool init,
                     const std::string& field, PodNames& names, FieldErrors& field_errors) {
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
    if (!string_at(container, "terminationMessagePolicy").empty())
        check_choice(container, "terminationMessagePolicy", {"File", "FallbackToLogsOnError"},
                     field, field_errors);
    check_ports(container, field, names, field_errors);
    check_environment(container, field, field_errors);
    check_mounts(container, field, names, field_errors);
    check_devices(container, field, names, field_errors);
    check_resources(container, field, field_errors);
    check_restart(container, init, field, field_errors);
    // Others may have neither, and are told so above.
    if (!init || string_at(container, "restartPolicy") == "Always") {
        check_probes(container, field, field_errors);
        check_lifecycle(container, int_at(spec, "terminationGracePeriodSeconds"), field,
                        field_errors);
    }
    check_container_security(container, spec, field, field_errors);
}

}  // namespace muster::apiserver
