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

/// What the flags about processors and memory ask for.
struct PlacementWish {
    NumaBinding binding = NumaBinding::kNone;
    MemoryPolicy memory = MemoryPolicy::kNone;

    friend bool operator==(const PlacementWish&, const PlacementWish&) = default;
};

/// The flags as they were given, empty for none.
struct PlacementFlags {
    std::string numa_binding = {};    ///< --numa-binding: torchrun's
    bool numa_affinity = false;       ///< --numa-affinity: dlrover-run's, a binding to the node
    std::string membind_policy = {};  ///< --membind-policy: none, preferred, bind
};
/// kInvalid names the flag.
Result<PlacementWish> parse_placement(const PlacementFlags& flags);

/// One worker among those of its node.
struct Place {
    int local_rank = 0;
    int local_size = 1;
    /// The number of its accelerator on this machine, when it has one: its entry of a numeric
    /// CUDA_VISIBLE_DEVICES, else its local rank.
    std::optional<int> device = {};
};
/// Of a worker with this value of CUDA_VISIBLE_DEVICES (nothing: not set) on that machine.
std::optional<int> device_of(int local_rank, const std::optional<std::string>& visible,
                             const Topology& machine);

struct Placement {
    std::vector<std::uint32_t> cpus = {};  ///< none: on any
    MemoryPolicy memory = MemoryPolicy::kNone;
    std::vector<std::uint32_t> nodes = {};  ///< for the policy
    std::string note = {};  ///< for people: why it is not as somebody may have expected

    friend bool operator==(const Placement&, const Placement&) = default;
};

/// Where a worker runs: by the node of its accelerator, as torchrun's --numa-binding has it
/// (upstream: torch/numa/binding.py), and without one by its share of the machine, so that local
/// ranks side by side share a node. All places of a node are given, as workers share what is there
/// with their neighbours. An error: there are fewer cores than workers.
Result<Placement> place(const PlacementWish& wish, const Topology& machine,
                        const std::vector<Place>& all, std::size_t which);

}  // namespace muster::launch
