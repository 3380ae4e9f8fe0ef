#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::jobs {

/// What a command says to the launcher that it calls, as far as that can be read: not what is in a
/// script, or in variables of the command's own.
struct LauncherFlags {
    std::optional<std::int32_t> fewest_nodes;          ///< of --nnodes
    std::optional<std::chrono::seconds> join_timeout;  ///< of --rdzv-conf
};

/// `nodes`: what NODE_NUM and WORKER_NUM are in the command's environment. Pure.
LauncherFlags read_launcher_flags(const std::vector<std::string>& command, std::int32_t nodes);

}  // namespace muster::jobs
