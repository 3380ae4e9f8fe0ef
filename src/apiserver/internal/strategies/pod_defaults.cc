#include "apiserver/internal/strategies/pod_defaults.h"

#include "apiserver/objects/json_access.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

constexpr int kDefaultFileMode = 420;  // 0644
constexpr int kTokenSeconds = 3600;

std::string_view default_pull_policy(std::string_view image) {
    const std::size_t digest = image.find('@');
    if (digest != std::string_view::npos) return "IfNotPresent";
    const std::size_t slash = image.rfind('/');
    const std::size_t colon = image.rfind(':');
    const bool tagged =
        colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
    return tagged && image.substr(colon + 1) != "latest" ? "IfNotPresent" : "Always";
}

/// Of a probe or a hook.
void set_handler_defaults(json::object& handler) {
    if (json::object* http = object_at(handler, "httpGet")) {
        set_default(*http, "path", json::value("/"));
        set_default(*http, "scheme", json::value("HTTP"));
        for_each_object(*http, "httpHeaders", [](json::object& header) {
            set_default(header, "value", json::value(""));
        });
    }
    if (json::object* grpc = object_at(handler, "grpc"))
        set_default(*grpc, "service", json::value(""));
    if (json::object* sleep = object_at(handler, "sleep"))
        set_default(*sleep, "seconds", json::value(0));
}

void set_probe_defaults(json::object& container, std::string_view key) {
    json::object* probe = object_at(container, key);
    if (probe == nullptr) return;
    set_default(*probe, "timeoutSeconds", json::value(1));
    set_default(*probe, "periodSeconds", json::value(10));
    set_default(*probe, "successThreshold", json::value(1));
    set_default(*probe, "failureThreshold", json::value(3));
    set_handler_defaults(*probe);
}

/// In the canonical form of a quantity, as a string: 1.5Gi is 1536Mi, and 2 is "2".
void write_quantities(json::object& resources) {
    for (const char* key : {"limits", "requests"}) {
        json::object* list = object_at(resources, key);
        if (list == nullptr) continue;
        for (auto& entry : *list) {
            const auto quantity = kube::Quantity::parse(entry.value());
            if (!quantity) continue;  // refused when it was decoded
            std::string text = quantity->to_string();
            const json::string* written = entry.value().if_string();
            if (written == nullptr || std::string_view(*written) != text) entry.value() = text;
        }
    }
}

void copy_limits_to_requests(json::object& resources) {
    const json::object* limits = object_at(resources, "limits");
    if (limits == nullptr || limits->empty()) return;
    const json::object wanted = *limits;
    json::object& requests = ensure_object(resources, "requests");
    for (const auto& entry : wanted)
        if (!requests.contains(entry.key())) requests.emplace(entry.key(), entry.value());
}

/// Whether limits are copied to requests: for a pod, not for a template.
enum class Requests { kAsGiven, kFromLimits };

void set_container_defaults(json::object& container, Requests requests) {
    set_default(container, "terminationMessagePath", json::value("/dev/termination-log"));
    set_default(container, "terminationMessagePolicy", json::value("File"));
    if (string_at(container, "imagePullPolicy").empty())
        container["imagePullPolicy"] = default_pull_policy(string_at(container, "image"));
    json::object& resources = ensure_object(container, "resources");
    write_quantities(resources);
    if (requests == Requests::kFromLimits) copy_limits_to_requests(resources);
    if (json::array* ports = array_at(container, "ports"))
        for (json::value& port : *ports)
            if (port.is_object()) set_default(port.get_object(), "protocol", json::value("TCP"));
    if (json::array* env = array_at(container, "env"))
        for (json::value& entry : *env) {
            json::object* source =
                entry.is_object() ? object_at(entry.get_object(), "valueFrom") : nullptr;
            json::object* field = source == nullptr ? nullptr : object_at(*source, "fieldRef");
            if (field != nullptr) set_default(*field, "apiVersion", json::value("v1"));
        }
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
        set_probe_defaults(container, probe);
    if (json::object* lifecycle = object_at(container, "lifecycle"))
        for (const char* hook : {"postStart", "preStop"})
            if (json::object* handler = object_at(*lifecycle, hook)) set_handler_defaults(*handler);
}

void set_field_version(json::object& reference) {
    if (json::object* field = object_at(reference, "fieldRef"))
        set_default(*field, "apiVersion", json::value("v1"));
}

/// Of a volume's source, or of one that is projected with others.
void set_source_defaults(json::object& source) {
    if (json::object* files = object_at(source, "downwardAPI"))
        for_each_object(*files, "items", set_field_version);
    if (json::object* token = object_at(source, "serviceAccountToken"))
        set_default(*token, "expirationSeconds", json::value(kTokenSeconds));
}

void set_defaults(json::object& volume, std::string_view source,
                  std::initializer_list<std::pair<const char*, json::value>> defaults) {
    if (json::object* found = object_at(volume, source))
        for (const auto& [key, value] : defaults) set_default(*found, key, value);
}

void set_disk_defaults(json::object& volume) {
    set_defaults(volume, "iscsi", {{"iscsiInterface", "default"}, {"lun", 0}});
    set_defaults(volume, "rbd",
                 {{"pool", "rbd"}, {"user", "admin"}, {"keyring", "/etc/ceph/keyring"}});
    set_defaults(volume, "azureDisk",
                 {{"cachingMode", "ReadWrite"},
                  {"kind", "Shared"},
                  {"fsType", "ext4"},
                  {"readOnly", false}});
    set_defaults(volume, "scaleIO", {{"storageMode", "ThinProvisioned"}, {"fsType", "xfs"}});
    if (json::object* ephemeral = object_at(volume, "ephemeral"))
        if (json::object* claim = object_at(*ephemeral, "volumeClaimTemplate"))
            set_default(ensure_object(*claim, "spec"), "volumeMode", json::value("Filesystem"));
}

void set_volume_defaults(json::object& volume) {
    set_source_defaults(volume);
    if (json::object* projected = object_at(volume, "projected"))
        for_each_object(*projected, "sources", set_source_defaults);

    for (const char* source : {"configMap", "secret", "downwardAPI", "projected"})
        if (json::object* found = object_at(volume, source))
            set_default(*found, "defaultMode", json::value(kDefaultFileMode));
    if (json::object* path = object_at(volume, "hostPath"))
        set_default(*path, "type", json::value(""));
    set_disk_defaults(volume);
    if (volume.size() <= 1 && volume.contains("name")) volume["emptyDir"].emplace_object();
}

void set_scalar_defaults(json::object& spec) {
    set_default(spec, "restartPolicy", json::value("Always"));
    set_default(spec, "terminationGracePeriodSeconds", json::value(30));
    set_default(spec, "dnsPolicy", json::value("ClusterFirst"));
    set_default(spec, "schedulerName", json::value("default-scheduler"));
}

/// What may be missing, and Go writes nevertheless.
void set_zero_values(json::object& spec) {
    for_each_object(spec["securityContext"].get_object(), "sysctls",
                    [](json::object& sysctl) { set_default(sysctl, "value", json::value("")); });
    json::object* affinity = object_at(spec, "affinity");
    json::object* nodes = affinity == nullptr ? nullptr : object_at(*affinity, "nodeAffinity");
    if (nodes == nullptr) return;
    for_each_object(*nodes, "preferredDuringSchedulingIgnoredDuringExecution",
                    [](json::object& wish) { ensure_object(wish, "preference"); });
}

void set_part_defaults(json::object& spec, Requests requests) {
    ensure_object(spec, "securityContext");
    set_zero_values(spec);
    for (const char* key : {"containers", "initContainers"})
        for_each_object(spec, key, [requests](json::object& container) {
            container.reserve(container.size() + 4);
            set_container_defaults(container, requests);
        });
    for_each_object(spec, "ephemeralContainers", [](json::object& container) {
        set_container_defaults(container, Requests::kAsGiven);
    });
    for_each_object(spec, "volumes", set_volume_defaults);
}

}  // namespace

void set_template_defaults(json::object& pod_template) {
    json::object& spec = ensure_object(pod_template, "spec");
    spec.reserve(spec.size() + 5);
    set_scalar_defaults(spec);
    set_part_defaults(spec, Requests::kAsGiven);
}

namespace {

/// In the network of the host, a container's port is that of the host.
void set_host_ports(json::object& container) {
    for_each_object(container, "ports", [](json::object& port) {
        if (const json::value* number = port.if_contains("containerPort")) {
            const json::value same = *number;
            set_default(port, "hostPort", same);
        }
    });
}

/// The account has an old name too, which counts only where the new one is missing.
void set_account_names(json::object& spec) {
    std::string name(string_at(spec, "serviceAccountName"));
    if (name.empty()) name = string_at(spec, "serviceAccount");
    if (name.empty()) name = "default";
    for (const char* key : {"serviceAccountName", "serviceAccount"})
        if (string_at(spec, key) != name) spec[key] = name;
}

}  // namespace

void set_pod_defaults(json::object& pod) {
    json::object& spec = ensure_object(pod, "spec");
    if (bool_at(spec, "hostNetwork"))
        for (const char* key : {"containers", "initContainers"})
            for_each_object(spec, key, set_host_ports);
    // Room for all of them: growing moves every field again.
    spec.reserve(spec.size() + 12);
    set_scalar_defaults(spec);
    if (int_at(spec, "terminationGracePeriodSeconds").value_or(0) < 0)
        spec["terminationGracePeriodSeconds"] = 1;
    set_default(spec, "enableServiceLinks", json::value(true));
    set_account_names(spec);
    set_part_defaults(spec, Requests::kFromLimits);
}

void prepare_pod(json::object& pod, WallTime) {
    const json::object* spec = object_at(pod, "spec");
    const std::string_view qos = spec == nullptr ? "BestEffort" : qos_class(*spec);
    json::object status{{"phase", "Pending"}, {"qosClass", qos}};
    if (spec != nullptr && is_gated(*spec))
        status["conditions"] =
            json::array{{{"type", "PodScheduled"},
                         {"status", "False"},
                         {"lastProbeTime", nullptr},
                         {"lastTransitionTime", nullptr},
                         {"reason", "SchedulingGated"},
                         {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
    pod["status"] = std::move(status);
}

bool is_gated(const json::object& pod_spec) {
    const json::array* gates = array_at(pod_spec, "schedulingGates");
    return gates != nullptr && !gates->empty();
}

std::string_view qos_class(const json::object& pod_spec) {
    bool any = false;
    bool guaranteed = true;
    for (const char* key : {"containers", "initContainers"}) {
        const json::array* containers = array_at(pod_spec, key);
        if (containers == nullptr) continue;
        for (const json::value& entry : *containers) {
            const json::object* container = entry.if_object();
            const json::object* resources =
                container == nullptr ? nullptr : object_at(*container, "resources");
            for (const char* name : {"cpu", "memory"}) {
                const auto read = [&](std::string_view kind) -> std::optional<kube::Quantity> {
                    const json::object* list =
                        resources == nullptr ? nullptr : object_at(*resources, kind);
                    const json::value* value = list == nullptr ? nullptr : list->if_contains(name);
                    if (value == nullptr) return std::nullopt;
                    auto quantity = kube::Quantity::parse(*value);
                    if (!quantity || quantity->is_zero()) return std::nullopt;
                    return *quantity;
                };
                const auto limit = read("limits");
                const auto request = read("requests");
                any |= limit.has_value() || request.has_value();
                if (!limit || request != limit) guaranteed = false;
            }
        }
    }
    if (!any) return "BestEffort";
    return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace muster::apiserver
