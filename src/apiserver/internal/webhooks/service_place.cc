#include "apiserver/internal/webhooks/service_place.h"

#include "apiserver/internal/webhooks/service_route.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "apiserver/objects/text_fields.h"

namespace muster::apiserver {

namespace {

/// The pods of the namespace that have the labels. A namespace may have thousands: only selected
/// ones are worth a tree.
std::vector<kube::ObjectPtr> selected_pods(const WatchCache& cache, const std::string& space,
                                           const json::object& service) {
    std::vector<kube::ObjectPtr> pods;
    const kube::LabelSelector selector = selector_for_pods(service);
    const auto [first, last] = cache.range("pods", space);
    for (auto it = first; it != last; ++it)
        if (matches_labels(selector, *it->second.object)) pods.push_back(it->second.tree());
    return pods;
}

/// The EndpointSlices of a service, and its Endpoints if there are no slices.
std::vector<kube::ObjectPtr> endpoints_of(const WatchCache& cache, const ServiceName& service) {
    std::vector<kube::ObjectPtr> found;
    const auto [first, last] = cache.range("endpointslices.discovery.k8s.io", service.namespace_);
    for (auto it = first; it != last; ++it) {
        if (label_at(it->second.object->text(), "kubernetes.io/service-name") == service.name)
            found.push_back(it->second.tree());
    }
    if (!found.empty()) return found;
    if (const CachedObject* old = cache.find("endpoints", service.namespace_, service.name))
        found.push_back(old->tree());
    return found;
}

}  // namespace

Result<WebhookEndpoint> with_place(const WatchCache& cache, Rng& rng, WebhookEndpoint endpoint) {
    if (!endpoint.service) return endpoint;
    const auto& [space, name] = *endpoint.service;
    const CachedObject* found = cache.find("services", space, name);
    if (found == nullptr)
        return Error(Code::kNotFound, fmt::format("service \"{}\" not found", name));
    const kube::ObjectPtr held = found->tree();
    const json::object& service = held->get_object();
    if (const std::string outside = external_name_of(service); !outside.empty()) {
        endpoint.place = NetworkPort{outside, endpoint.port};
        return endpoint;
    }
    if (!has_selector(service)) {
        TRY(std::vector<NetworkPort> places,
            places_behind(service, endpoint.port, endpoints_of(cache, *endpoint.service)));
        endpoint.place = std::move(places[rng.below(places.size())]);
        return endpoint;
    }
    TRY(std::vector<ServicePod> behind,
        pods_behind(service, endpoint.port, selected_pods(cache, space, service)));
    ServicePod& one = behind[rng.below(behind.size())];
    endpoint.pod = PodPort{space, std::move(one.name), one.port};
    return endpoint;
}

bool has_places(const WatchCache& cache, const ServiceName& name, const json::object& service,
                std::uint16_t port) {
    if (!has_selector(service))
        return places_behind(service, port, endpoints_of(cache, name)).has_value();
    return pods_behind(service, port, selected_pods(cache, name.namespace_, service)).has_value();
}

bool has_endpoints(const WatchCache& cache, const ServiceName& service) {
    return !endpoints_of(cache, service).empty();
}

}  // namespace muster::apiserver
