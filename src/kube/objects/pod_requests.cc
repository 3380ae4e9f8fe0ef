#include "kube/objects/pod_requests.h"

#include <algorithm>

namespace muster::kube {
namespace {

void raise(Amounts& to, const Amounts& other) {
    for (const auto& [name, quantity] : other) {
        Quantity& mine = to[name];
        mine = std::max(mine, quantity);
    }
}

Amounts read(const json::object& resources, std::string_view field) {
    Amounts amounts;
    const json::value* found = resources.if_contains(field);
    if (found == nullptr || !found->is_object()) return amounts;
    for (const auto& [name, value] : found->get_object())
        if (const auto quantity = Quantity::parse(value)) amounts[name] = *quantity;
    return amounts;
}

Amounts requests_of(const Container& container) {
    Amounts amounts = amounts_of(container.resources.requests);
    amounts.merge(amounts_of(container.resources.limits));
    return amounts;
}

/// Only these can be requested by the pod as a whole.
bool may_be_of_the_pod(std::string_view resource) {
    return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

void apply_pod_level(const json::object& rest, Amounts& amounts) {
    const json::value* resources = rest.if_contains("resources");
    if (resources == nullptr || !resources->is_object()) return;
    for (const auto& [name, quantity] : read(resources->get_object(), "requests"))
        if (may_be_of_the_pod(name)) amounts[name] = quantity;
    // As the API server fills them in: if no container requests the resource.
    for (const auto& [name, quantity] : read(resources->get_object(), "limits"))
        if (may_be_of_the_pod(name)) amounts.try_emplace(name, quantity);
}

}  // namespace

Amounts amounts_of(const ResourceList& list) {
    Amounts amounts;
    for (const auto& [name, value] : list)
        if (const auto quantity = Quantity::parse(value)) amounts[name] = *quantity;
    return amounts;
}

Amounts container_requests(const PodSpec& spec) {
    Amounts running;
    for (const Container& container : spec.containers)
        add_times(running, requests_of(container), 1);
    Amounts sidecars;
    Amounts starting;
    for (const Container& container : spec.init_containers) {
        const Amounts own = requests_of(container);
        Amounts at_a_time = sidecars;
        add_times(at_a_time, own, 1);
        raise(starting, at_a_time);
        if (container.restart_policy == "Always") sidecars = std::move(at_a_time);
    }
    add_times(running, sidecars, 1);
    raise(running, starting);
    return running;
}

Amounts pod_requests(const PodSpec& spec) {
    Amounts requests = container_requests(spec);
    apply_pod_level(spec.rest, requests);
    add_times(requests, read(spec.rest, "overhead"), 1);
    return requests;
}

void add_times(Amounts& sum, const Amounts& amounts, std::int32_t count) {
    for (const auto& [name, quantity] : amounts) {
        Quantity& total = sum[name];
        Quantity doubled = quantity;
        for (std::int32_t rest = count; rest > 0; rest /= 2) {
            if (rest % 2 == 1) total = total + doubled;
            doubled = doubled + doubled;
        }
    }
}

json::object to_json(const Amounts& amounts) {
    json::object object;
    for (const auto& [name, quantity] : amounts) object[name] = quantity.to_string();
    return object;
}

}  // namespace muster::kube
