#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "launch/flags.h"
#include "launch/worker_start.h"
#include "workers/local/local_workers.h"

namespace muster::cli {

/// What all processes that this verb starts have in common.
struct ProcessSurroundings {
    const launch::Variables& variables;  ///< the caller's
    rlim_t core_bytes = 0;
};

/// A set of processes, each below a shim of its own: lines with a prefix, and nothing left at the
/// end, also if this process is killed.
struct OwnProcesses {
    std::unique_ptr<workers::LocalWorkers> workers = {};
    std::filesystem::path directory = {};  ///< private; what is put there is removed by its owner

    /// `prefix`: "[${local_rank}] ". Tries TMPDIR or /tmp, then /dev/shm: a container may be read-only.
    static Task<Result<OwnProcesses>> open(asio::any_io_executor executor, Clock& clock, Rng& rng,
                                           ProcessSurroundings around, std::string prefix);
    Task<Result<void>> start(std::vector<launch::WorkerStart> starts);
};

}  // namespace muster::cli
