#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace muster::agent {

/// How one random run of a job went.
struct ElasticRun {
    std::string broken;  ///< the first that must not happen; empty: nothing
    std::string trace;
    std::uint64_t unseed = 0;  ///< equal runs have equal ones
    int faults = 0;
    std::size_t worlds = 0;
};

/// Which of them happen.
struct ElasticFaults {
    int most_nodes = 6;
    int count = 25;
    Duration time = std::chrono::seconds(60);
};

/// A job of the seed's making with its faults: workers, agents, nodes and masters that die, alone
/// and together, connections that break, stand still (one way too) or are late, nodes that fall
/// silent, records that fail, a calendar that jumps. Then all that broke is repaired, and the job
/// has to run with every node within a bound, and to end.
ElasticRun run_elastic(std::uint64_t seed, ElasticFaults faults = {});

}  // namespace muster::agent
