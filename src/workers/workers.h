#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/world.h"
#include "launch/worker_start.h"

namespace muster::workers {

/// How a worker ended by itself. Workers ended by stop() are not reported.
struct WorkerEnd {
    job_protocol::Generation generation = {};
    int local_rank = 0;
    int rank = 0;
    int pid = 0;
    std::optional<int> exit_code = {};  ///< nullopt: ended by a signal
    int signal = 0;
    bool out_of_memory = false;  ///< killed because it or its node ran out of memory
    /// From its error file, such as "ValueError: no such column"; empty without one.
    std::string error = {};
    std::string error_file = {};  ///< its path; empty without one
    std::uint64_t steps = 0;      ///< steps it had made, by its own count
    WallTime when = {};           ///< as its error file says, if there is one
};

/// The workers of one node: at most one set at a time, of one generation.
///
/// A seam: processes on this machine, or simulated ones. Thread: the loop of its owner. Before it
/// is destroyed, stop() must have returned; otherwise the workers continue without it.
class Workers {
  public:
    virtual ~Workers() = default;

    /// The world of the running set, which an earlier agent may have started; nullopt if there is
    /// none. A set runs until stop(), even if all of its workers have ended.
    virtual std::optional<job_protocol::World> running() const = 0;
    /// Starts a set as a member of that world. No set may be running. On an error none runs
    /// afterwards either, and the message names the worker that could not be started, and why.
    virtual Task<Result<void>> start(job_protocol::World world,
                                     std::vector<launch::WorkerStart> workers) = 0;
    /// The next worker that ended by itself. Each end is returned once, in the order of the
    /// workers' own times as far as these are known. All ends of a set taken over from an earlier
    /// agent are returned, including those already returned to that agent and those of workers that
    /// it had begun to stop, because no one else remembers them. Ends of a stopped set are not
    /// returned any more.
    virtual Task<WorkerEnd> next_end() = 0;
    /// Sends SIGTERM to all workers, and SIGKILL to what is left after `grace` (at once if it is
    /// zero). Returns when every process of the set is gone, including those that workers started.
    virtual Task<void> stop(Duration grace) = 0;
    /// The highest step count in the running set; nullopt if no worker counts steps.
    virtual std::optional<std::uint64_t> steps() const = 0;
};

}  // namespace muster::workers
