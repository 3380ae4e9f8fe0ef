#include "apiserver/internal/strategies/container_validation.h"

#include <map>

#include "apiserver/internal/pod_validation/container_resources.h"
#include "apiserver/internal/pod_validation/environment.h"
#include "apiserver/internal/pod_validation/ephemeral_containers.h"
#include "apiserver/internal/pod_validation/handlers.h"
#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/security.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/strategies/volume_validation.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"

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

void check_port_number(const json::object& port, const char* key, const FieldOf& field,
                       bool optional, FieldErrors& field_errors) {
    const std::int64_t number = int_at(port, key).value_or(0);
    if (number == 0) {
        if (!optional) field_errors.push_back(required(field(fmt::format(".{}", key))));
        return;
    }
    if (number < 1 || number > kMostPort)
        field_errors.push_back(invalid_value(field(fmt::format(".{}", key)), json::value(number),
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
    if (!mount.contains("recursiveReadOnly")) return;
    check_choice(mount, "recursiveReadOnly", {"Disabled", "Enabled", "IfPossible"}, field,
                 field_errors);
    const std::string_view recursive = string_at(mount, "recursiveReadOnly");
    if (recursive != "Enabled" && recursive != "IfPossible") return;
    const std::string at = field + ".recursiveReadOnly";
    if (!bool_at(mount, "readOnly"))
        field_errors.push_back(forbidden_field(at, "may only be specified when readOnly is true"));
    if (mount.contains("mountPropagation") && string_at(mount, "mountPropagation") != "None")
        field_errors.push_back(forbidden_field(at,
                                               "may only be specified when mountPropagation is "
                                               "None or not specified"));
}

/// Where the volumes of a list are in a container, by the volumes' names.
struct Places {
    Places(const json::object& container, const char* list, const char* path_key) {
        for (const json::object* item : objects_at(container, list)) {
            const std::string_view name = string_at(*item, "name");
            of_volumes[name] = string_at(*item, path_key);
        }
        for (const auto& [name, path] : of_volumes) paths.insert(path);
    }
    /// `in`: the name of the list.
    void check_apart(std::string_view name, std::string_view path, const char* path_key,
                     const char* in, const FieldOf& at, FieldErrors& field_errors) const {
        if (of_volumes.contains(name))
            field_errors.push_back(invalid_value(at(".name"), json::value(name),
                                                 fmt::format("must not already exist in {}", in)));
        if (paths.contains(path))
            field_errors.push_back(
                invalid_value(at(fmt::format(".{}", path_key)), json::value(path),
                              fmt::format("must not already exist as a path in {}", in)));
    }

    std::map<std::string_view, std::string_view> of_volumes;
    std::set<std::string_view> paths;
};

void check_sub_path(const json::object& mount, const std::string& all, const FieldOf& at,
                    FieldErrors& field_errors) {
    const std::string_view sub = string_at(mount, "subPath");
    const std::string_view expression = string_at(mount, "subPathExpr");
    check_descending_path(sub, all + ".subPath", field_errors);
    check_descending_path(expression, all + ".subPathExpr", field_errors);
    if (!sub.empty() && !expression.empty())
        field_errors.push_back(invalid_value(at(".subPathExpr"), json::value(expression),
                                             "subPathExpr and subPath are mutually exclusive"));
}

void check_mounts(const json::object& container, const std::string& field, const PodNames& names,
                  FieldErrors& field_errors) {
    const auto mounts = objects_at(container, "volumeMounts");
    if (mounts.empty()) return;
    const Places devices(container, "volumeDevices", "devicePath");
    std::set<std::string_view> paths;
    // Upstream's paths of some causes do not say which mount it is.
    const std::string all = field + ".volumeMounts";
    for (std::size_t i = 0; i < mounts.size(); ++i) {
        const FieldOf at{field, "volumeMounts", i};
        const std::string_view name = string_at(*mounts[i], "name");
        if (name.empty()) field_errors.push_back(required(at(".name")));
        if (!names.volumes.contains(name))
            field_errors.push_back(not_found_value(at(".name"), json::value(name)));
        const std::string_view path = string_at(*mounts[i], "mountPath");
        if (path.empty()) field_errors.push_back(required(at(".mountPath")));
        if (!paths.insert(path).second)
            field_errors.push_back(
                invalid_value(at(".mountPath"), json::value(path), "must be unique"));
        devices.check_apart(name, path, "mountPath", "volumeDevices", at, field_errors);
        check_sub_path(*mounts[i], all, at, field_errors);
        check_propagation_of(*mounts[i], is_privileged(container), all, field_errors);
    }
}

void check_devices(const json::object& container, const std::string& field, const PodNames& names,
                   FieldErrors& field_errors) {
    const auto devices = objects_at(container, "volumeDevices");
    if (devices.empty()) return;
    const Places mounts(container, "volumeMounts", "mountPath");
    std::set<std::string_view> seen;
    std::set<std::string_view> paths;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const FieldOf at{field, "volumeDevices", i};
        const std::string_view name = string_at(*devices[i], "name");
        const auto refuse = [&](const char* key, std::string_view value, std::string_view why) {
            field_errors.push_back(invalid_value(at(key), json::value(value), why));
        };
        if (name.empty()) field_errors.push_back(required(at(".name")));
        if (!name.empty() && !seen.insert(name).second) refuse(".name", name, "must be unique");
        if (!names.volumes.contains(name))
            field_errors.push_back(not_found_value(at(".name"), json::value(name)));
        else if (!names.claims.contains(name))
            refuse(".name", name,
                   "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                   "block mode");
        const std::string_view path = string_at(*devices[i], "devicePath");
        if (path.empty()) field_errors.push_back(required(at(".devicePath")));
        if (paths.contains(path)) refuse(".devicePath", path, "must be unique");
        if (has_backstep(path))
            refuse(".devicePath", path, "can not contain backsteps ('..')");
        else
            paths.insert(path);
        mounts.check_apart(name, path, "devicePath", "volumeMounts", at, field_errors);
    }
}

/// Whether a hook says nothing but the signal that stops the container, which any may say.
bool only_stops(const json::object& container, std::string_view key) {
    const json::object& hooks = child(container, key);
    return key == "lifecycle" && hooks.size() == 1 && hooks.contains("stopSignal");
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
        if (container.contains(key) && !only_stops(container, key))
            field_errors.push_back(
                forbidden_field(fmt::format("{}.{}", field, key),
                                "may not be set for init containers without restartPolicy=Always"));
}

void check_name(const json::object& container, const std::string& field,
                FieldErrors& field_errors) {
    const std::string_view name = string_at(container, "name");
    if (name.empty())
        field_errors.push_back(required(field + ".name"));
    else
        check_dns_label(name, field + ".name", field_errors);
}

void check_image(const json::object& container, const std::string& field,
                 FieldErrors& field_errors) {
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
}

/// What containers of all kinds have.
void check_common_parts(const json::object& container, const json::object& spec,
                        const std::string& field, PodNames& names, FieldErrors& field_errors) {
    check_image(container, field, field_errors);
    if (!string_at(container, "terminationMessagePolicy").empty())
        check_choice(container, "terminationMessagePolicy", {"File", "FallbackToLogsOnError"},
                     field, field_errors);
    check_ports(container, field, names, field_errors);
    check_environment(container, field, field_errors);
    check_mounts(container, field, names, field_errors);
    check_devices(container, field, names, field_errors);
    check_resources(container, field, field_errors);
    check_resize_policy(container, string_at(spec, "restartPolicy"), field, field_errors);
}

}  // namespace

void check_container(const json::object& container, const json::object& spec, bool init,
                     const std::string& field, PodNames& names, FieldErrors& field_errors) {
    const std::string name(string_at(container, "name"));
    check_name(container, field, field_errors);
    if (!names.containers.insert(name).second && (!init || !name.empty()))
        field_errors.push_back(duplicate(field + ".name", json::value(name)));
    check_common_parts(container, spec, field, names, field_errors);
    check_restart(container, init, field, field_errors);
    // Others may have neither, and are told so above.
    if (!init || string_at(container, "restartPolicy") == "Always") {
        check_probes(container, field, field_errors);
        check_lifecycle(container, int_at(spec, "terminationGracePeriodSeconds"), field,
                        field_errors);
    }
    check_container_security(container, spec, field, field_errors);
}

void check_ephemeral_container(const json::object& container, const json::object& spec,
                               const std::string& field,
                               const std::set<std::string, std::less<>>& targets, PodNames& names,
                               FieldErrors& field_errors) {
    check_name(container, field, field_errors);
    check_common_parts(container, spec, field, names, field_errors);
    check_container_security(container, spec, field, field_errors);
    const std::string name(string_at(container, "name"));
    if (!names.containers.insert(name).second)
        field_errors.push_back(duplicate(field + ".name", json::value(name)));
    const std::string_view target = string_at(container, "targetContainerName");
    if (!target.empty() && !targets.contains(target))
        field_errors.push_back(
            not_found_value(field + ".targetContainerName", json::value(target)));
    check_ephemeral_only(container, field, field_errors);
}

}  // namespace muster::apiserver
