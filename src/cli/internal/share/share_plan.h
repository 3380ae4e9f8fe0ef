#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/share/share_options.h"
#include "launch/flags.h"
#include "launch/topology.h"
#include "launch/worker_start.h"

namespace muster::cli {

/// What a plan needs to know of this machine and of the caller.
struct ShareSurroundings {
    launch::Variables variables = {};  ///< the caller's environment
    launch::Topology machine = {};     ///< empty: nothing is known
    int gpus = 0;
    std::string mps_directory = {};  ///< of the daemon that was started for them; empty: none
};

/// One of the processes.
struct SharedProcess {
    launch::WorkerStart start = {};
    launch::Variables given = {};  ///< of its environment, what the caller's does not have
};

struct SharePlan {
    std::vector<SharedProcess> processes = {};
    std::vector<std::string> notes = {};  ///< for people
};

/// What each process is started with. Pure.
SharePlan plan_share(const ShareOptions& options, const ShareSurroundings& around);

/// The plan for people: of each process its CPUs, its variables and its command, as a shell reads them.
std::string to_text(const SharePlan& plan);

}  // namespace muster::cli
