#include "launch/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/fields.h"
#include "base/parse_number.h"

namespace muster::launch {

namespace {

using Ids = std::set<std::uint32_t>;

Ids nodes_of(const Topology& machine) {
    Ids nodes;
    for (const Cpu& cpu : machine.cpus) nodes.insert(cpu.node);
    return nodes;
}

struct NodeChoice {
    std::uint32_t node = 0;
    bool of_device = false;
};

/// The node of its accelerator; without one, workers are spread over the nodes in order.
NodeChoice node_of(const Topology& machine, const Place& place) {
    const Ids nodes = nodes_of(machine);
    if (place.device && *place.device >= 0 &&
        static_cast<std::size_t>(*place.device) < machine.devices.size()) {
        const auto& node = machine.devices[static_cast<std::size_t>(*place.device)];
        if (node && nodes.contains(*node)) return {*node, true};
    }
    const std::size_t size = static_cast<std::size_t>(std::max(place.local_size, 1));
    const std::size_t rank = static_cast<std::size_t>(std::max(place.local_rank, 0)) % size;
    auto it = nodes.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(rank * nodes.size() / size));
    return {*it, false};
}

template <class Wanted>
std::vector<std::uint32_t> cpus_where(const Topology& machine, Wanted wanted) {
    std::vector<std::uint32_t> cpus;
    for (const Cpu& cpu : machine.cpus)
        if (wanted(cpu)) cpus.push_back(cpu.id);
    return cpus;
}

/// How many workers share the node, and the index of this one.
struct Share {
    std::size_t index = 0;
    std::size_t size = 0;
};
Share share_of(const Topology& machine, const std::vector<Place>& all, std::size_t which,
               std::uint32_t node) {
    Share share;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (node_of(machine, all[i]).node != node) continue;
        if (i == which) share.index = share.size;
        ++share.size;
    }
    return share;
}

/// The cores of the node, divided evenly; the first workers get the remainder.
Result<std::vector<std::uint32_t>> exclusive(const Topology& machine, std::uint32_t node,
                                             Share share) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> cores;
    for (const Cpu& cpu : machine.cpus)
        if (cpu.node == node) cores[cpu.core].push_back(cpu.id);
    if (cores.size() < share.size)
        return Error(Code::kInvalid,
                     fmt::format("--numa-binding exclusive: NUMA node {} has {} cores for {} "
                                 "workers; start fewer workers, or bind them to the node",
                                 node, cores.size(), share.size));
    const std::size_t each = cores.size() / share.size;
    const std::size_t more = cores.size() % share.size;
    const std::size_t first = share.index * each + std::min(share.index, more);
    const std::size_t count = each + (share.index < more ? 1 : 0);
    std::vector<std::uint32_t> cpus;
    std::size_t at = 0;
    for (const auto& [core, ids] : cores) {
        if (at >= first && at < first + count) cpus.insert(cpus.end(), ids.begin(), ids.end());
        ++at;
    }
    std::ranges::sort(cpus);
    return cpus;
}

/// The cores of one cache for each worker, the largest first; if there are more workers than
/// caches, they share.
std::vector<std::uint32_t> core_complex(const Topology& machine, std::uint32_t node, Share share) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_cache;
    for (const Cpu& cpu : machine.cpus)
        if (cpu.node == node) by_cache[cpu.cache].push_back(cpu.id);
    std::vector<std::vector<std::uint32_t>> complexes;
    for (auto& [cache, ids] : by_cache) complexes.push_back(std::move(ids));
    std::ranges::sort(complexes, [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
    });
    return complexes[share.index % complexes.size()];
}

}  // namespace

Result<PlacementWish> parse_placement(const PlacementFlags& flags) {
    PlacementWish wish;
    const std::pair<std::string_view, NumaBinding> bindings[] = {
        {"", NumaBinding::kNone},
        {"node", NumaBinding::kNode},
        {"socket", NumaBinding::kSocket},
        {"exclusive", NumaBinding::kExclusive},
        {"core-complex", NumaBinding::kCoreComplex}};
    const auto binding = std::ranges::find(bindings, std::string_view(flags.numa_binding),
                                           [](const auto& entry) { return entry.first; });
    if (binding == std::end(bindings))
        return Error(Code::kInvalid,
                     fmt::format("--numa-binding \"{}\": node, socket, exclusive or core-complex",
                                 flags.numa_binding));
    wish.binding = binding->second;
    if (wish.binding == NumaBinding::kNone && flags.numa_affinity)
        wish.binding = NumaBinding::kNode;
    const std::pair<std::string_view, MemoryPolicy> policies[] = {
        {"", flags.numa_affinity ? MemoryPolicy::kPreferred : MemoryPolicy::kNone},
        {"none", MemoryPolicy::kNone},
        {"preferred", MemoryPolicy::kPreferred},
        {"bind", MemoryPolicy::kBind}};
    const auto policy = std::ranges::find(policies, std::string_view(flags.membind_policy),
                                          [](const auto& entry) { return entry.first; });
    if (policy == std::end(policies))
        return Error(Code::kInvalid, fmt::format("--membind-policy \"{}\": none, preferred or bind",
                                                 flags.membind_policy));
    wish.memory = policy->second;
    return wish;
}

std::optional<int> device_of(int local_rank, const std::optional<std::string>& visible,
                             const Topology& machine) {
    if (machine.devices.empty()) return std::nullopt;
    if (!visible) return local_rank;
    std::string_view rest = *visible;
    for (int at = 0; !rest.empty(); ++at) {
        const std::string_view entry = take_field(rest, ',');
        const auto device = parse_number<int>(entry);
        // A name such as GPU-8932f937 does not tell the NUMA node.
        if (!device) return std::nullopt;
        if (at == local_rank) return device;
    }
    return std::nullopt;
}

Result<Placement> place(const PlacementWish& wish, const Topology& machine,
                        const std::vector<Place>& all, std::size_t which) {
    Placement placement;
    if (wish.binding == NumaBinding::kNone && wish.memory == MemoryPolicy::kNone) return placement;
    const auto [node, of_device] = node_of(machine, all[which]);
    const bool one_node = nodes_of(machine).size() == 1;
    if (all[which].device && !of_device && !one_node)
        placement.note = fmt::format(
            "the machine does not report the NUMA node of accelerator {}: workers are spread over "
            "the NUMA nodes by local rank",
            *all[which].device);
    const std::uint32_t socket = std::ranges::find(machine.cpus, node, &Cpu::node)->socket;
    const auto on_node = [node](const Cpu& cpu) { return cpu.node == node; };
    const auto on_socket = [socket](const Cpu& cpu) { return cpu.socket == socket; };
    const Share share = share_of(machine, all, which, node);
    switch (wish.binding) {
        case NumaBinding::kNone:
            break;
        case NumaBinding::kNode:
            if (one_node)
                placement.note =
                    "this machine has only one NUMA node: binding workers to it changes nothing";
            placement.cpus = cpus_where(machine, on_node);
            break;
        case NumaBinding::kSocket:
            placement.cpus = cpus_where(machine, on_socket);
            if (placement.cpus.size() == machine.cpus.size())
                placement.note =
                    "this machine has only one socket: binding workers to it changes nothing";
            break;
        case NumaBinding::kExclusive: {
            TRY(placement.cpus, exclusive(machine, node, share));
            break;
        }
        case NumaBinding::kCoreComplex:
            placement.cpus = core_complex(machine, node, share);
            break;
    }
    if (wish.memory == MemoryPolicy::kNone) return placement;
    if (one_node) {
        placement.note = "this machine has only one NUMA node: a memory policy changes nothing";
        return placement;
    }
    placement.memory = wish.memory;
    Ids nodes{node};
    if (wish.binding == NumaBinding::kSocket)
        for (const Cpu& cpu : machine.cpus)
            if (on_socket(cpu)) nodes.insert(cpu.node);
    placement.nodes.assign(nodes.begin(), nodes.end());
    return placement;
}

}  // namespace muster::launch
