#include "apiserver/internal/webhooks/service_place.h"

#include "apiserver/internal/webhooks/service_route.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/watching/visit_in_turns.h"

namespace muster::apiserver {

namespace {

/// What a service leads to: pods that it selects, or else addresses.
struct Behind {
    bool exists = false;  ///< it selects pods, or has EndpointSlices or Endpoints
    std::vector<PodPort> pods = {};
    std::vector<NetworkPort> places = {};
    std::size_t count() const { return pods.size() + places.size(); }
};

/// `most`: how many are needed.
Task<Behind> pods_behind(const WatchCache& cache, std::string space, kube::ObjectPtr service,
                         const json::object& port, std::size_t most) {
    const kube::LabelSelector selector = selector_for_pods(service->get_object());
    Behind behind{.exists = true};
    co_await visit_in_turns(cache, "pods", space, [&](const auto& key, const auto& pod) {
        // A namespace may have thousands: only selected ones are worth a tree.
        if (!matches_labels(selector, *pod.object)) return true;
        if (const auto target = target_at(pod.tree()->get_object(), port))
            behind.pods.push_back({space, key.name, *target});
        return behind.count() < most;
    });
    co_return behind;
}

/// By its EndpointSlices, and by its Endpoints if there are no slices.
Task<Behind> places_behind(const WatchCache& cache, ServiceName service, const json::object& port,
                           std::size_t most) {
    Behind behind;
    const auto add = [&](const CachedObject& endpoints) {
        behind.exists = true;
        add_places(endpoints.tree()->get_object(), port, behind.places);
    };
    co_await visit_in_turns(
        cache, "endpointslices.discovery.k8s.io", service.namespace_,
        [&](const auto&, const auto& slice) {
            if (label_at(slice.object->text(), "kubernetes.io/service-name") == service.name)
                add(slice);
            return behind.count() < most;
        });
    if (!behind.exists)
        if (const CachedObject* old = cache.find("endpoints", service.namespace_, service.name))
            add(*old);
    co_return behind;
}

/// kNotFound: the service does not have that port.
Task<Result<Behind>> find_behind(const WatchCache& cache, ServiceName name, kube::ObjectPtr service,
                                 std::uint16_t number, std::size_t most) {
    CO_TRY(const json::object* const port, service_port(service->get_object(), number));
    if (has_selector(service->get_object()))
        co_return co_await pods_behind(cache, name.namespace_, service, *port, most);
    co_return co_await places_behind(cache, name, *port, most);
}

}  // namespace

Task<Result<WebhookEndpoint>> with_place(ServerState& state, WebhookEndpoint endpoint) {
    if (!endpoint.service) co_return endpoint;
    const ServiceName& name = *endpoint.service;
    const CachedObject* found = state.cache.find("services", name.namespace_, name.name);
    if (found == nullptr)
        co_return Error(Code::kNotFound, fmt::format("service \"{}\" not found", name.name));
    const kube::ObjectPtr service = found->tree();
    if (const std::string outside = external_name_of(service->get_object()); !outside.empty()) {
        endpoint.place = NetworkPort{outside, endpoint.port};
        co_return endpoint;
    }
    CO_TRY(Behind behind,
           co_await find_behind(state.cache, name, service, endpoint.port, SIZE_MAX));
    if (behind.count() == 0)
        co_return Error(Code::kUnavailable,
                        fmt::format("no endpoints available for service \"{}\"", name.name));
    const std::size_t one = state.rng.below(behind.count());
    if (behind.pods.empty())
        endpoint.place = std::move(behind.places[one]);
    else
        endpoint.pod = std::move(behind.pods[one]);
    co_return endpoint;
}

Task<ServicePlaces> places_of(const WatchCache& cache, ServiceName name, kube::ObjectPtr service,
                              std::uint16_t port) {
    const Result<Behind> behind =
        co_await find_behind(cache, std::move(name), std::move(service), port, 1);
    if (behind && behind->count() > 0) co_return ServicePlaces::kSome;
    co_return !behind || behind->exists ? ServicePlaces::kNoAddresses : ServicePlaces::kNoEndpoints;
}

}  // namespace muster::apiserver
