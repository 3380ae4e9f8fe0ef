#include "apiserver/internal/admission/service_route.h"

#include <algorithm>
#include <optional>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

bool is_ready(const json::object& pod) {
    if (is_deleting(pod)) return false;
    const json::object* status = object_at(pod, "status");
    const json::array* conditions = status == nullptr ? nullptr : array_at(*status, "conditions");
    return conditions != nullptr && std::ranges::any_of(*conditions, [](const json::value& value) {
               const json::object* condition = value.if_object();
               return condition != nullptr && string_at(*condition, "type") == "Ready" &&
                      string_at(*condition, "status") == "True";
           });
}

const json::object* selector_of(const json::object& service) {
    const json::object* spec = object_at(service, "spec");
    return spec == nullptr ? nullptr : object_at(*spec, "selector");
}

/// A whole number that is a valid port.
std::optional<std::uint16_t> as_port(std::optional<std::int64_t> number) {
    if (!number || *number <= 0 || *number > 65535) return std::nullopt;
    return static_cast<std::uint16_t>(*number);
}

/// The port to which a container of the pod gave this name.
std::optional<std::uint16_t> named_port(const json::object& pod, std::string_view name) {
    const json::object* spec = object_at(pod, "spec");
    const json::array* containers = spec == nullptr ? nullptr : array_at(*spec, "containers");
    if (containers == nullptr) return std::nullopt;
    for (const json::value& container : *containers) {
        const json::array* ports =
            container.is_object() ? array_at(container.get_object(), "ports") : nullptr;
        if (ports == nullptr) continue;
        for (const json::value& port : *ports)
            if (port.is_object() && string_at(port.get_object(), "name") == name)
                return as_port(int_at(port.get_object(), "containerPort"));
    }
    return std::nullopt;
}

std::optional<std::uint16_t> target_in(const json::object& pod, const json::object& port) {
    const std::string_view name = string_at(port, "targetPort");
    if (!name.empty()) return named_port(pod, name);
    return as_port(port.contains("targetPort") ? int_at(port, "targetPort") : int_at(port, "port"));
}

const json::object* find_port(const json::object& service, std::uint16_t number) {
    const json::object* spec = object_at(service, "spec");
    const json::array* ports = spec == nullptr ? nullptr : array_at(*spec, "ports");
    if (ports == nullptr) return nullptr;
    for (const json::value& port : *ports)
        if (port.is_object() && int_at(port.get_object(), "port") == number)
            return &port.get_object();
    return nullptr;
}

}  // namespace

bool selects(const json::object& service, const json::value& labels) {
    const json::object* selector = selector_of(service);
    const json::object* given = labels.if_object();
    return selector != nullptr && given != nullptr &&
           std::ranges::all_of(*selector, [&](const auto& wanted) {
               const json::value* label = given->if_contains(wanted.key());
               return label != nullptr && *label == wanted.value();
           });
}

Result<std::vector<ServicePod>> pods_behind(const json::object& service, std::uint16_t port,
                                            const std::vector<kube::ObjectPtr>& pods) {
    const std::string_view name = name_of(service);
    const json::object* selector = selector_of(service);
    if (selector == nullptr || selector->empty())
        return Error(Code::kUnsupported,
                     fmt::format("service \"{}\" selects no pods, and muster reaches nothing else "
                                 "by a service",
                                 name));
    const json::object* wanted = find_port(service, port);
    if (wanted == nullptr)
        return Error(Code::kNotFound, fmt::format("service \"{}\" has no port {}", name, port));
    std::vector<ServicePod> behind;
    for (const kube::ObjectPtr& pod : pods) {
        const json::object& fields = pod->get_object();
        const json::value* labels = metadata_of(fields).if_contains("labels");
        if (labels == nullptr || !selects(service, *labels) || !is_ready(fields)) continue;
        if (const auto target = target_in(fields, *wanted))
            behind.push_back({std::string(name_of(fields)), *target});
    }
    if (behind.empty())
        return Error(Code::kUnavailable,
                     fmt::format("no endpoints available for service \"{}\"", name));
    return behind;
}

}  // namespace muster::apiserver
