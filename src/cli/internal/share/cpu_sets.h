#pragma once

#include <cstdint>
#include <vector>

#include "launch/topology.h"

namespace muster::cli {

/// The machine's CPUs divided among so many processes: sets that share no CPU, as equal as can be,
/// of whole cores, of neighbours in one cache and NUMA node as far as that goes. Of single CPUs if
/// there are fewer cores than processes. Empty: there is nothing to divide, one process or fewer
/// CPUs than processes. Pure.
std::vector<std::vector<std::uint32_t>> split_cpus(const launch::Topology& machine, int processes);

}  // namespace muster::cli
