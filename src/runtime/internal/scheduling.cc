#include "runtime/internal/scheduling.h"

#include <algorithm>
#include <optional>

namespace muster::runtime {

namespace {

using Resources = std::map<std::string, kube::Quantity>;

kube::Quantity amount(const Resources& resources, const std::string& name) {
    auto it = resources.find(name);
    return it == resources.end() ? kube::Quantity() : it->second;
}

Resources container_requests(const kube::Container& container) {
    Resources requests;
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

/// Why the pod does not fit now, or nothing.
std::optional<std::string> lacks(const SchedulingPod& pod, const SchedulingNode& node,
                                 const Resources& used) {
    for (const auto& [name, wanted] : pod.requests) {
        if (wanted.is_zero()) continue;
        const kube::Quantity have = amount(node.allocatable, name);
        if (have.is_zero())
            return fmt::format(
                "0/1 nodes are available: 1 Insufficient {}: the pod asks for {} of it and this "
                "machine has none. Remove the request, or drop it with --ignore-resources {}",
                name, wanted.to_string(), name);
        if (wanted > have)
            return fmt::format(
                "0/1 nodes are available: 1 Insufficient {}: the pod asks for {} and this machine "
                "has {} in all. It can never run here: lower its requests",
                name, wanted.to_string(), have.to_string());
        const kube::Quantity taken = amount(used, name);
        if (taken + wanted > have)
            return fmt::format(
                "0/1 nodes are available: 1 Insufficient {}: the pod asks for {}, and {} of {} are "
                "taken by pods that run. It waits until enough of them end",
                name, wanted.to_string(), taken.to_string(), have.to_string());
    }
    return std::nullopt;
}

std::optional<std::string> port_conflict(const SchedulingPod& pod,
                                         const std::vector<const SchedulingPod*>& placed) {
    for (const SchedulingPod* other : placed) {
        if (other->job_uid == pod.job_uid) continue;
        for (const std::int32_t port : pod.ports)
            if (other->ports.contains(port))
                return fmt::format(
                    "0/1 nodes are available: 1 node(s) didn't have free ports: port {} is used by "
                    "{} (pod {}). All pods share one network here, as the kernel forbids network "
                    "namespaces, and a worker could join the wrong master. It waits until that job "
                    "ends; to run both at once, start muster as root or allow user namespaces",
                    port, other->job, other->key);
    }
    return std::nullopt;
}

}  // namespace

Resources requests_of(const kube::PodSpec& spec) {
    Resources total;
    for (const kube::Container& container : spec.containers)
        for (const auto& [name, value] : container_requests(container))
            total[name] = amount(total, name) + value;
    for (const kube::Container& container : spec.init_containers)
        for (const auto& [name, value] : container_requests(container))
            if (value > amount(total, name)) total[name] = value;
    return total;
}

std::vector<Placement> schedule(const std::vector<SchedulingPod>& pods,
                                const SchedulingNode& node) {
    Resources used;
    std::vector<const SchedulingPod*> placed;
    std::vector<const SchedulingPod*> waiting;
    auto place = [&](const SchedulingPod& pod) {
        for (const auto& [name, value] : pod.requests) used[name] = amount(used, name) + value;
        placed.push_back(&pod);
    };
    for (const SchedulingPod& pod : pods) {
        if (pod.bound)
            place(pod);
        else
            waiting.push_back(&pod);
    }
    std::ranges::sort(waiting, [](const SchedulingPod* a, const SchedulingPod* b) {
        return std::tie(a->created, a->key) < std::tie(b->created, b->key);
    });
    std::vector<Placement> placements;
    for (const SchedulingPod* pod : waiting) {
        std::optional<std::string> obstacle = lacks(*pod, node, used);
        if (!obstacle && node.shared_network) obstacle = port_conflict(*pod, placed);
        if (!obstacle) place(*pod);
        placements.push_back({pod->key, !obstacle, obstacle.value_or("")});
    }
    return placements;
}

}  // namespace muster::runtime
