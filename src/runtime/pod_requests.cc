#include "runtime/pod_requests.h"

#include <utility>

namespace muster::runtime {

namespace {

using Amounts = std::map<std::string, kube::Quantity>;

Amounts container_requests(const kube::Container& container) {
    Amounts requests;
    auto take = [&](const kube::ResourceList& list) {
        for (const auto& [name, value] : list) {
            auto quantity = kube::Quantity::parse(value);
            if (quantity) requests.emplace(name, *quantity);
        }
    };
    take(container.resources.requests);
    take(container.resources.limits);
    return requests;
}

void add_up(Amounts& to, const Amounts& more) {
    for (const auto& [name, value] : more) to[name] = to[name] + value;
}

}  // namespace

Amounts requests_of(const kube::PodSpec& spec) {
    Amounts sidecars;
    Amounts most;
    const auto at_least = [&](const Amounts& wanted) {
        for (const auto& [name, value] : wanted)
            if (value > most[name]) most[name] = value;
    };
    for (const kube::Container& container : spec.init_containers) {
        Amounts wanted = container_requests(container);
        add_up(wanted, sidecars);
        at_least(wanted);
        if (container.restart_policy == "Always") sidecars = std::move(wanted);
    }
    Amounts together = std::move(sidecars);
    for (const kube::Container& container : spec.containers)
        add_up(together, container_requests(container));
    at_least(together);
    return most;
}

}  // namespace muster::runtime
