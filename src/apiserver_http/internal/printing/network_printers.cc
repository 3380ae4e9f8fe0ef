#include <fmt/format.h>

#include <set>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"

namespace muster::apiserver_http {

namespace {

constexpr std::size_t kShownEndpoints = 3;

constexpr Column kServiceColumns[] = {
    kNameColumn,
    {"Type", "string", "", "How it can be reached."},
    {"Cluster-IP", "string", "", "Its address inside of the cluster."},
    {"External-IP", "string", "", "Where it is reached from outside."},
    {"Port(s)", "string", "", "Its ports, with those of the nodes behind a colon."},
    kAgeColumn,
    kSelectorColumn,
};

/// The addresses from load balancers, in alphabetical order.
std::vector<std::string> ingress_addresses(const json::object& service) {
    std::set<std::string> addresses;
    for (const json::object* ingress :
         objects_at(child(child(service, "status"), "loadBalancer"), "ingress")) {
        const std::string_view ip = string_at(*ingress, "ip");
        const std::string_view address = ip.empty() ? string_at(*ingress, "hostname") : ip;
        if (!address.empty()) addresses.emplace(address);
    }
    return {addresses.begin(), addresses.end()};
}

std::string external_address(const json::object& service) {
    const json::object& spec = child(service, "spec");
    const std::string_view type = string_at(spec, "type");
    const std::vector<std::string> fixed = strings_at(spec, "externalIPs");
    if (type == "ClusterIP" || type == "NodePort")
        return or_else(joined(fixed), apiserver::kNoneText);
    if (type == "ExternalName") return std::string(string_at(spec, "externalName"));
    if (type != "LoadBalancer") return std::string(kUnknownText);
    std::vector<std::string> all = ingress_addresses(service);
    all.insert(all.end(), fixed.begin(), fixed.end());
    return or_else(joined(all), "<pending>");
}

std::string service_ports(const json::object& spec) {
    std::vector<std::string> ports;
    for (const json::object* port : objects_at(spec, "ports")) {
        const std::int64_t node_port = number_at(*port, "nodePort");
        ports.push_back(node_port > 0 ? fmt::format("{}:{}/{}", number_at(*port, "port"), node_port,
                                                    string_at(*port, "protocol"))
                                      : fmt::format("{}/{}", number_at(*port, "port"),
                                                    string_at(*port, "protocol")));
    }
    return or_else(joined(ports), apiserver::kNoneText);
}

json::array service_cells(const json::object& service, WallTime now) {
    const json::object& spec = child(service, "spec");
    return {name_of(service),
            string_at(spec, "type"),
            or_else(string_at(spec, "clusterIP"), apiserver::kNoneText),
            external_address(service),
            service_ports(spec),
            age_of(service, now),
            apiserver::labels_text(object_at(spec, "selector"))};
}

constexpr Column kEndpointsColumns[] = {
    kNameColumn,
    {"Endpoints", "string", "", "Addresses and ports of what is behind the service."},
    kAgeColumn,
};

std::string host_and_port(std::string_view host, std::int64_t port) {
    return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                    : fmt::format("[{}]:{}", host, port);
}

json::array endpoints_cells(const json::object& endpoints, WallTime now) {
    std::vector<std::string> texts;
    for (const json::object* subset : objects_at(endpoints, "subsets")) {
        const auto ports = objects_at(*subset, "ports");
        for (const json::object* address : objects_at(*subset, "addresses"))
            if (ports.empty()) texts.emplace_back(string_at(*address, "ip"));
        for (const json::object* port : ports)
            for (const json::object* address : objects_at(*subset, "addresses"))
                texts.push_back(host_and_port(string_at(*address, "ip"), number_at(*port, "port")));
    }
    return {name_of(endpoints), shortened(texts, kShownEndpoints, apiserver::kNoneText),
            age_of(endpoints, now)};
}

constexpr Column kEndpointSliceColumns[] = {
    kNameColumn,
    {"AddressType", "string", "", "Of which family the addresses are."},
    {"Ports", "string", "", "Ports that all endpoints listen on."},
    {"Endpoints", "string", "", "Addresses of the endpoints."},
    kAgeColumn,
};

json::array endpoint_slice_cells(const json::object& slice, WallTime now) {
    std::vector<std::string> ports;
    for (const json::object* port : objects_at(slice, "ports")) {
        const std::string number = apiserver::scalar_text(port->if_contains("port"));
        ports.push_back(number.empty() ? or_else(string_at(*port, "name"), "*") : number);
    }
    std::vector<std::string> addresses;
    for (const json::object* endpoint : objects_at(slice, "endpoints"))
        for (std::string& address : strings_at(*endpoint, "addresses"))
            addresses.push_back(std::move(address));
    return {name_of(slice), string_at(slice, "addressType"),
            shortened(ports, kShownEndpoints, kUnsetText),
            shortened(addresses, kShownEndpoints, kUnsetText), age_of(slice, now)};
}

constexpr Column kIngressColumns[] = {
    kNameColumn,
    {"Class", "string", "", "Which controller serves it."},
    {"Hosts", "string", "", "The names that it answers to."},
    {"Address", "string", "", "Where it is reached."},
    {"Ports", "string", "", "The ports of those names."},
    kAgeColumn,
};

json::array ingress_cells(const json::object& ingress, WallTime now) {
    const json::object& spec = child(ingress, "spec");
    const auto rules = objects_at(spec, "rules");
    std::vector<std::string> hosts;
    for (std::size_t i = 0; i < rules.size() && hosts.size() < kShownEndpoints; ++i)
        if (const std::string_view host = string_at(*rules[i], "host"); !host.empty())
            hosts.emplace_back(host);
    std::string text = or_else(joined(hosts), "*");
    if (hosts.size() == kShownEndpoints && rules.size() > kShownEndpoints)
        text += fmt::format(" + {} more...", rules.size() - kShownEndpoints);
    return {name_of(ingress),
            or_else(string_at(spec, "ingressClassName"), apiserver::kNoneText),
            text,
            joined(ingress_addresses(ingress)),
            objects_at(spec, "tls").empty() ? "80" : "80, 443",
            age_of(ingress, now)};
}

constexpr Column kIngressClassColumns[] = {
    kNameColumn,
    {"Controller", "string", "", "Who serves its ingresses."},
    {"Parameters", "string", "", "An object with its settings."},
    kAgeColumn,
};

json::array ingress_class_cells(const json::object& ingress_class, WallTime now) {
    const json::object& spec = child(ingress_class, "spec");
    std::string parameters(apiserver::kNoneText);
    if (const json::object* with = object_at(spec, "parameters")) {
        const std::string_view group = string_at(*with, "apiGroup");
        parameters = fmt::format("{}{}{}/{}", string_at(*with, "kind"), group.empty() ? "" : ".",
                                 group, string_at(*with, "name"));
    }
    return {name_of(ingress_class), string_at(spec, "controller"), parameters,
            age_of(ingress_class, now)};
}

constexpr Column kNetworkPolicyColumns[] = {
    kNameColumn,
    {"Pod-Selector", "string", "", "Labels of the pods that it protects."},
    kAgeColumn,
};

json::array network_policy_cells(const json::object& policy, WallTime now) {
    return {name_of(policy),
            apiserver::selector_text(object_at(child(policy, "spec"), "podSelector")),
            age_of(policy, now)};
}

constexpr Printer kNetworkPrinters[] = {
    {"ingresses.networking.k8s.io", kIngressColumns, ingress_cells},
    {"ingressclasses.networking.k8s.io", kIngressClassColumns, ingress_class_cells},
    {"networkpolicies.networking.k8s.io", kNetworkPolicyColumns, network_policy_cells},
    {"services", kServiceColumns, service_cells},
    {"endpoints", kEndpointsColumns, endpoints_cells},
    {"endpointslices.discovery.k8s.io", kEndpointSliceColumns, endpoint_slice_cells},
};

}  // namespace

std::span<const Printer> network_printers() { return kNetworkPrinters; }

}  // namespace muster::apiserver_http
