#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/memory_policy.h"
#include "launch/topology.h"

namespace muster::launch {

enum class NumaBinding : std::uint8_t { kNone, kNode, kSocket, kExclusive, kCoreComplex };

/// What the flags about CPUs and memory ask for.
struct PlacementWish {
    NumaBinding binding = NumaBinding::kNone;
    MemoryPolicy memory = MemoryPolicy::kNone;

    friend bool operator==(const PlacementWish&, const PlacementWish&) = default;
};

/// The flags as given; empty if not given.
struct PlacementFlags {
    std::string numa_binding = {};    ///< --numa-binding, torchrun's flag
    bool numa_affinity = false;       ///< --numa-affinity, dlrover-run's flag: bind to the node
    std::string membind_policy = {};  ///< --membind-policy: none, preferred, bind
};
/// kInvalid, naming the flag.
Result<PlacementWish> parse_placement(const PlacementFlags& flags);

/// One of the workers of a node.
struct Place {
    int local_rank = 0;
    int local_size = 1;
    /// The number of its accelerator on this machine, if it has one: its entry of a numeric
    /// CUDA_VISIBLE_DEVICES, otherwise its local rank.
    std::optional<int> device = {};
};
/// For a worker with this value of CUDA_VISIBLE_DEVICES (nullopt: not set) on that machine.
std::optional<int> device_of(int local_rank, const std::optional<std::string>& visible,
                             const Topology& machine);

struct Placement {
    std::vector<std::uint32_t> cpus = {};  ///< empty: any
    MemoryPolicy memory = MemoryPolicy::kNone;
    std::vector<std::uint32_t> nodes = {};  ///< NUMA nodes of the memory policy
    std::string note = {};  ///< for people: why the placement may differ from what was expected

    friend bool operator==(const Placement&, const Placement&) = default;
};

/// Places a worker near its accelerator, as torchrun's --numa-binding does (upstream:
/// torch/numa/binding.py), and without one by its share of the machine, so that adjacent local
/// ranks share a NUMA node. Needs all workers of the node, because they share cores with their
/// neighbours. An error if there are fewer cores than workers.
Result<Placement> place(const PlacementWish& wish, const Topology& machine,
                        const std::vector<Place>& all, std::size_t which);

}  // namespace muster::launch
