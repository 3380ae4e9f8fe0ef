#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/internal/share/gpu_share.h"

namespace muster::cli {

/// More would need more descriptors than a process has by default.
inline constexpr int kMostShared = 256;

struct ShareOptions {
    int processes = 0;
    std::vector<std::string> command = {};
    /// As words of the command and, in capitals, as variables.
    std::string index_name = "process_index";
    std::string count_name = "process_num";
    bool words = true;  ///< --no-words: only variables
    bool bind = true;   ///< each has CPUs of its own
    GpuMemoryWish gpu_memory = {};
    bool mps = false;
    std::chrono::nanoseconds grace = std::chrono::seconds(30);
    bool dry_run = false;
};

}  // namespace muster::cli
