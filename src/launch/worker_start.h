#pragma once

#include <string>
#include <utility>
#include <vector>

namespace muster::launch {

/// What one worker is started with.
struct WorkerStart {
    int local_rank = 0;
    int rank = 0;
    std::vector<std::string> command =
        {};  ///< never empty; the first is looked up in the PATH below
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< all of it
    /// Of the command, that a warm spare can begin with: PYTHON [OPTION...] SCRIPT. 0: none can.
    int spare_words = 0;
};

}  // namespace muster::launch
