#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace muster::launch {

/// What one worker is started with.
struct WorkerStart {
    int local_rank = 0;
    int rank = 0;
    std::vector<std::string> command =
        {};  ///< never empty; the first word is looked up in the PATH below
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< the whole environment
    /// The CPUs that it may run on, whatever the placement of all workers says; empty: as that says.
    std::vector<std::uint32_t> cpus = {};
    /// How many words of the command a warm spare can start with: PYTHON [OPTION...] SCRIPT. 0:
    /// none.
    int spare_words = 0;
};

}  // namespace muster::launch
