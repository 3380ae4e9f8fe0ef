#include "apiserver/internal/webhooks/service_route.h"

#include <algorithm>

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

const json::array& array_in(const json::object& object, std::string_view key) {
    static const json::array kNone;
    const json::array* found = array_at(object, key);
    return found == nullptr ? kNone : *found;
}

/// The number of the port that has the name of the service's port.
std::optional<std::uint16_t> number_of(const json::object& holder, std::string_view name) {
    for (const json::value& port : array_in(holder, "ports"))
        if (port.is_object() && string_at(port.get_object(), "name") == name)
            return as_port(int_at(port.get_object(), "port"));
    return std::nullopt;
}

void add_places_of_slice(const json::object& slice, std::string_view port,
                         std::vector<NetworkPort>& places) {
    const auto number = number_of(slice, port);
    if (!number) return;
    for (const json::value& endpoint : array_in(slice, "endpoints")) {
        const json::object* fields = endpoint.if_object();
        if (fields == nullptr) continue;
        const json::object* conditions = object_at(*fields, "conditions");
        const bool ready = conditions == nullptr || !conditions->contains("ready") ||
                           bool_at(*conditions, "ready");
        const std::vector<std::string> addresses = strings_at(*fields, "addresses");
        if (ready && !addresses.empty()) places.push_back({addresses.front(), *number});
    }
}

void add_places_of_endpoints(const json::object& endpoints, std::string_view port,
                             std::vector<NetworkPort>& places) {
    for (const json::value& subset : array_in(endpoints, "subsets")) {
        const json::object* fields = subset.if_object();
        const auto number = fields == nullptr ? std::nullopt : number_of(*fields, port);
        if (!number) continue;
        for (const json::value& address : array_in(*fields, "addresses"))
            if (address.is_object())
                places.push_back({std::string(string_at(address.get_object(), "ip")), *number});
    }
}

}  // namespace

bool has_selector(const json::object& service) {
    const json::object* selector = selector_of(service);
    return selector != nullptr && !selector->empty();
}

std::string external_name_of(const json::object& service) {
    const json::object* spec = object_at(service, "spec");
    if (spec == nullptr || string_at(*spec, "type") != "ExternalName") return {};
    return std::string(string_at(*spec, "externalName"));
}

kube::LabelSelector selector_for_pods(const json::object& service) {
    std::map<std::string, std::string> pairs;
    if (const json::object* selector = selector_of(service))
        for (const auto& [key, value] : *selector)
            if (const json::string* text = value.if_string()) pairs.emplace(key, *text);
    return kube::LabelSelector::from_map(pairs);
}

Result<const json::object*> service_port(const json::object& service, std::uint16_t number) {
    const json::object* spec = object_at(service, "spec");
    const json::array* ports = spec == nullptr ? nullptr : array_at(*spec, "ports");
    if (ports != nullptr)
        for (const json::value& port : *ports)
            if (port.is_object() && int_at(port.get_object(), "port") == number)
                return &port.get_object();
    return Error(Code::kNotFound,
                 fmt::format("service \"{}\" has no port {}", name_of(service), number));
}

std::optional<std::uint16_t> target_at(const json::object& pod, const json::object& service_port) {
    if (!is_ready(pod)) return std::nullopt;
    const std::string_view name = string_at(service_port, "targetPort");
    if (!name.empty()) return named_port(pod, name);
    return as_port(
        int_at(service_port, service_port.contains("targetPort") ? "targetPort" : "port"));
}

void add_places(const json::object& endpoints, const json::object& service_port,
                std::vector<NetworkPort>& places) {
    const std::string_view name = string_at(service_port, "name");
    add_places_of_slice(endpoints, name, places);
    add_places_of_endpoints(endpoints, name, places);
}

}  // namespace muster::apiserver
