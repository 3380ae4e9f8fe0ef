#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "sim/ledger/ledger.h"

namespace muster::sim::elastic {

/// How one random run of a job went.
struct ElasticRun {
    std::vector<Violation> violations;
    std::vector<std::pair<Instant, std::string>> lines;  ///< what happened
    std::uint64_t unseed = 0;                            ///< equal runs have equal ones
    Instant end;
    std::map<std::string_view, int> faults = {};  ///< how many of each kind
    std::size_t worlds = 0;
    Duration recovery = {};  ///< the longest, from the last fault until all ran that can
    bool failed = false;     ///< the job, by its own budget
};

/// Which job, and how much goes wrong in it.
struct ElasticShape {
    int least_nodes = 1;
    int most_nodes = 6;
    int faults = 25;
    Duration time = std::chrono::seconds(60);
};

/// A job of the seed's making with its faults (fault_injector.h). Then all that broke is mended,
/// and the job has to run with every node within a bound, to go on undisturbed, and to end, with
/// more faults while it ends. A job whose program fails too often has to fail, on every node.
ElasticRun run_elastic(std::uint64_t seed, ElasticShape shape = {});

}  // namespace muster::sim::elastic
