#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/internal/script/framework.h"

namespace muster::cli {

/// What a user without a manifest wants to run: a program and how much of it.
struct JobRequest {
    using Assignments = std::vector<std::pair<std::string, std::string>>;

    Framework framework = Framework::kPyTorch;
    std::string name;                  ///< of the job
    std::vector<std::string> command;  ///< as typed, the program or script first

    std::int32_t workers = 1;                ///< pods that train; of an elastic job the most
    std::optional<std::int32_t> least = {};  ///< of an elastic job the fewest
    std::int32_t servers = 0;                ///< parameter servers of TensorFlow and MXNet
    std::string processes = "1";             ///< of each worker; "auto", "gpu", "cpu"

    // Of each worker, as quantities; empty: nothing is asked for.
    std::string cpus = {};
    std::string memory = {};
    std::int64_t gpus = 0;
    std::string gpu_resource = "nvidia.com/gpu";

    std::string image = {};  ///< empty: it runs on this machine
    Assignments env = {};
    Assignments labels = {};
    std::string workdir = {};                   ///< absolute; empty: where containers start
    std::int32_t max_restarts = 0;              ///< of each worker
    std::optional<std::int64_t> deadline = {};  ///< seconds
    std::string priority = {};                  ///< the name of a PriorityClass
    bool warm = false;                          ///< PyTorch: restarts continue in warm spares
};

}  // namespace muster::cli
