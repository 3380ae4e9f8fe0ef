#include "apiserver/internal/quota/resource_list.h"

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

void raise_to(ResourceList& list, const ResourceList& least) {
    for (const auto& [name, amount] : least) {
        const auto [entry, fresh] = list.try_emplace(name, amount);
        if (!fresh && entry->second < amount) entry->second = amount;
    }
}

ResourceList container_resources(const json::object& container, std::string_view which) {
    return resource_list(child(child(container, "resources"), which));
}

/// Like raise_to(list, first + second), where only what is in `first` can be more than before.
void raise_to_sum(ResourceList& list, const ResourceList& first, const ResourceList& second) {
    for (const auto& [name, amount] : first) {
        const auto also = second.find(name);
        const kube::Quantity sum = also == second.end() ? amount : amount + also->second;
        const auto [entry, fresh] = list.try_emplace(name, sum);
        if (!fresh && entry->second < sum) entry->second = sum;
    }
}

}  // namespace

ResourceList resource_list(const json::object& quantities) {
    ResourceList list;
    for (const auto& entry : quantities)
        if (const auto amount = kube::Quantity::parse(entry.value()))
            list.insert_or_assign(std::string(entry.key()), *amount);
    return list;
}

void add_to(ResourceList& list, const ResourceList& more) {
    for (const auto& [name, amount] : more) {
        const auto [entry, fresh] = list.try_emplace(name, amount);
        if (!fresh) entry->second = entry->second + amount;
    }
}

ResourceList pod_resources(const json::object& pod_spec, std::string_view which,
                           Overhead overhead) {
    ResourceList all;
    for (const json::object* container : objects_at(pod_spec, "containers"))
        add_to(all, container_resources(*container, which));
    ResourceList sidecars;
    ResourceList at_start;
    for (const json::object* container : objects_at(pod_spec, "initContainers")) {
        const ResourceList own = container_resources(*container, which);
        if (string_at(*container, "restartPolicy") == "Always") {
            add_to(all, own);
            add_to(sidecars, own);
        } else {
            raise_to_sum(at_start, own, sidecars);
        }
    }
    raise_to(all, at_start);
    if (overhead == Overhead::kCounted) {
        for (const auto& [name, amount] : resource_list(child(pod_spec, "overhead"))) {
            const auto entry = all.find(name);
            if (entry != all.end())
                entry->second = entry->second + amount;
            else if (which == "requests")
                all.emplace(name, amount);
        }
    }
    return all;
}

std::string describe(const ResourceList& list) {
    std::string text;
    for (const auto& [name, amount] : list) {
        if (!text.empty()) text += ',';
        text += name;
        text += '=';
        text += amount.to_string();
    }
    return text;
}

}  // namespace muster::apiserver
