#include "apiserver/internal/endpoints/pod_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>

#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostInSlice = 100;
constexpr std::size_t kMostAddresses = 1000;
constexpr std::size_t kMostPorts = 100;  // each pod has them all
constexpr std::string_view kHeadless = "service.kubernetes.io/headless";
constexpr std::array<std::string_view, 2> kJobGroups{"kubeflow.org/", "elastic.iml.github.io/"};

bool is_of_jobs(std::string_view api_version) {
    return std::ranges::any_of(
        kJobGroups, [&](std::string_view group) { return api_version.starts_with(group); });
}

std::optional<std::int64_t> port_of_container(const json::object& pod, std::string_view name,
                                              std::string_view protocol) {
    const json::object& spec = child(pod, "spec");
    for (const json::object* container : objects_at(spec, "containers"))
        for (const json::object* port : objects_at(*container, "ports"))
            if (string_at(*port, "name") == name && string_at(*port, "protocol") == protocol)
                return int_at(*port, "containerPort");
    return std::nullopt;
}

std::string_view protocol_of(const json::object& port) {
    const std::string_view protocol = string_at(port, "protocol");
    return protocol.empty() ? "TCP" : protocol;
}

json::array ports_at(const json::object& service, const json::object& pod) {
    json::array ports;
    for (const json::object* port :
         objects_at(child(service, "spec"), "ports") | std::views::take(kMostPorts)) {
        const std::string_view name = string_at(*port, "targetPort");
        const auto given = int_at(*port, "targetPort");
        const auto number = !name.empty() ? port_of_container(pod, name, protocol_of(*port))
                            : given && *given != 0 ? given
                                                   : int_at(*port, "port");
        if (!number) continue;
        json::object made{{"name", string_at(*port, "name")},
                          {"port", *number},
                          {"protocol", protocol_of(*port)}};
        if (const std::string_view app = string_at(*port, "appProtocol"); !app.empty())
            made["appProtocol"] = app;
        ports.push_back(std::move(made));
    }
    return ports;
}

bool is_headless(const json::object& service) {
    const std::string_view address = string_at(child(service, "spec"), "clusterIP");
    return address.empty() || address == "None";
}

bool is_pod_ready(const json::object& pod) {
    return std::ranges::any_of(objects_at(child(pod, "status"), "conditions"),
                               [](const json::object* condition) {
                                   return string_at(*condition, "type") == "Ready" &&
                                          string_at(*condition, "status") == "True";
                               });
}

bool publishes_all(const json::object& service) {
    return bool_at(child(service, "spec"), "publishNotReadyAddresses");
}

json::object reference(const json::object& service, const PodEndpoint& pod) {
    return {{"kind", "Pod"},
            {"namespace", namespace_of(service)},
            {"name", pod.name},
            {"uid", pod.uid}};
}

json::object address_of(const json::object& service, const PodEndpoint& pod) {
    json::object address{{"ip", pod.ip}};
    if (!pod.hostname.empty()) address["hostname"] = pod.hostname;
    if (!pod.node.empty()) address["nodeName"] = pod.node;
    address["targetRef"] = reference(service, pod);
    return address;
}

json::object endpoint_of(const json::object& service, const PodEndpoint& pod) {
    const bool ready = publishes_all(service) || (pod.serving && !pod.terminating);
    json::object endpoint{{"addresses", json::array{pod.ip}},
                          {"conditions", json::object{{"ready", ready},
                                                      {"serving", pod.serving},
                                                      {"terminating", pod.terminating}}}};
    if (!pod.hostname.empty()) endpoint["hostname"] = pod.hostname;
    endpoint["targetRef"] = reference(service, pod);
    if (!pod.node.empty()) endpoint["nodeName"] = pod.node;
    return endpoint;
}

/// The ports of an Endpoints object have no empty names.
json::array ports_of_subset(json::array ports) {
    for (json::value& port : ports)
        if (string_at(port.get_object(), "name").empty()) port.get_object().erase("name");
    return ports;
}

/// The same for equal ports, however they are written.
std::string ports_key(const json::array& ports) {
    std::set<std::string> parts;
    for (const json::value& port : ports)
        if (const json::object* fields = port.if_object())
            parts.insert(fmt::format("{}/{}/{}/{}", string_at(*fields, "name"),
                                     int_at(*fields, "port").value_or(0), protocol_of(*fields),
                                     string_at(*fields, "appProtocol")));
    return fmt::format("{}", fmt::join(parts, ","));
}

std::string uid_in(const json::value& endpoint) {
    const json::object* fields = endpoint.if_object();
    return fields == nullptr ? std::string()
                             : std::string(string_at(child(*fields, "targetRef"), "uid"));
}

}  // namespace

bool has_endpoints(const json::object& service) {
    const json::object& spec = child(service, "spec");
    const json::object* selector = object_at(spec, "selector");
    if (selector == nullptr || selector->empty() || string_at(spec, "type") == "ExternalName")
        return false;
    return std::ranges::none_of(
        objects_at(metadata_of(service), "ownerReferences"), [](const json::object* owner) {
            return bool_at(*owner, "controller") && is_of_jobs(string_at(*owner, "apiVersion"));
        });
}

std::optional<PodEndpoint> pod_endpoint(const json::object& service, const json::object& pod) {
    const json::object& status = child(pod, "status");
    const std::string_view phase = string_at(status, "phase");
    const std::string_view ip = string_at(status, "podIP");
    if (ip.empty() || phase == "Succeeded" || phase == "Failed") return std::nullopt;
    const json::object& spec = child(pod, "spec");
    PodEndpoint made{.name = std::string(name_of(pod)),
                     .uid = std::string(uid_of(pod)),
                     .ip = std::string(ip),
                     .node = std::string(string_at(spec, "nodeName")),
                     .hostname = {},
                     .serving = is_pod_ready(pod),
                     .terminating = is_deleting(pod),
                     .ports = ports_at(service, pod)};
    if (string_at(spec, "subdomain") == name_of(service))
        made.hostname = string_at(spec, "hostname");
    return made;
}

json::array subsets_of(const json::object& service, const PodEndpoints& pods) {
    const bool all = publishes_all(service);
    const bool without_ports =
        is_headless(service) && objects_at(child(service, "spec"), "ports").empty();
    struct PortAt {
        json::value port;
        std::vector<const PodEndpoint*> pods;
    };
    std::map<std::string, PortAt> at;
    for (const auto& [name, pod] : pods) {
        if (pod.terminating && !all) continue;
        for (const json::value& port : pod.ports) {
            PortAt& one = at[ports_key({port})];
            one.port = port;
            one.pods.push_back(&pod);
        }
        if (pod.ports.empty() && without_ports) at[""].pods.push_back(&pod);
    }
    // Ports with the same pods are one subset.
    std::map<std::vector<const PodEndpoint*>, json::array> subsets;
    for (auto& [key, one] : at) {
        json::array& ports = subsets[std::move(one.pods)];
        if (!one.port.is_null()) ports.push_back(std::move(one.port));
    }
    json::array made;
    std::size_t room = kMostAddresses;
    for (auto& [members, ports] : subsets) {
        json::object subset;
        for (const bool ready : {true, false}) {
            json::array addresses;
            for (const PodEndpoint* pod : members)
                if ((all || pod->serving) == ready && addresses.size() < room)
                    addresses.push_back(address_of(service, *pod));
            room -= addresses.size();
            if (!addresses.empty())
                subset[ready ? "addresses" : "notReadyAddresses"] = std::move(addresses);
        }
        if (subset.empty()) continue;
        if (!ports.empty()) subset["ports"] = ports_of_subset(std::move(ports));
        made.push_back(std::move(subset));
    }
    return made;
}

json::object endpoints_labels(const json::object& service) {
    json::object labels = kube::copy_of(child(metadata_of(service), "labels"));
    if (is_headless(service))
        labels[kHeadless] = "";
    else
        labels.erase(kHeadless);
    labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller";
    return labels;
}

json::object slice_labels(const json::object& service) {
    json::object labels = kube::copy_of(child(metadata_of(service), "labels"));
    if (is_headless(service))
        labels[kHeadless] = "";
    else
        labels.erase(kHeadless);
    labels["kubernetes.io/service-name"] = name_of(service);
    labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io";
    return labels;
}

SliceChanges slice_changes(const json::object& service, const PodEndpoints& pods,
                           const std::vector<Slice>& slices) {
    // By ports, the endpoints that are not in a slice yet, by the uid of their pod.
    std::map<std::string, std::map<std::string, const PodEndpoint*>> wanted;
    for (const auto& [name, pod] : pods) wanted[ports_key(pod.ports)].emplace(pod.uid, &pod);
    // A service without pods has one empty slice.
    if (wanted.empty()) wanted[ports_key({})];

    const json::object labels = slice_labels(service);
    SliceChanges changes;
    struct Kept {
        const Slice* before = nullptr;
        Slice now;
    };
    std::map<std::string, std::vector<Kept>> kept;
    for (const Slice& slice : slices) {
        const std::string key = ports_key(slice.ports);
        const auto group = wanted.find(key);
        if (group == wanted.end()) {
            changes.removed.push_back(slice.name);
            continue;
        }
        Kept one{&slice, {slice.name, labels, slice.ports, {}}};
        for (const json::value& endpoint : slice.endpoints) {
            const auto pod = group->second.find(uid_in(endpoint));
            if (pod == group->second.end()) continue;
            one.now.endpoints.push_back(endpoint_of(service, *pod->second));
            group->second.erase(pod);
        }
        kept[key].push_back(std::move(one));
    }
    for (auto& [key, rest] : wanted) {
        std::vector<Kept>& group = kept[key];
        auto slice = group.begin();
        auto pod = rest.begin();
        for (; slice != group.end(); ++slice)
            for (; pod != rest.end() && slice->now.endpoints.size() < kMostInSlice; ++pod)
                slice->now.endpoints.push_back(endpoint_of(service, *pod->second));
        while (pod != rest.end() || group.empty()) {
            json::array ports = pod == rest.end() ? json::array() : pod->second->ports;
            Kept& fresh = group.emplace_back(nullptr, Slice{{}, labels, std::move(ports), {}});
            for (; pod != rest.end() && fresh.now.endpoints.size() < kMostInSlice; ++pod)
                fresh.now.endpoints.push_back(endpoint_of(service, *pod->second));
        }
        std::size_t left = group.size();
        for (Kept& one : group) {
            if (one.before != nullptr && one.now.endpoints.empty() && left > 1) {
                changes.removed.push_back(one.now.name);
                --left;
            } else if (one.before == nullptr || !kube::equal(one.before->labels, labels) ||
                       !kube::equal(one.before->endpoints, one.now.endpoints)) {
                changes.written.push_back(std::move(one.now));
            }
        }
    }
    return changes;
}

}  // namespace muster::apiserver
