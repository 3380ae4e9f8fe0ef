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

/// How a worker ended by itself. What stop() ended is not told.
struct WorkerEnd {
    job_protocol::Generation generation = {};
    int local_rank = 0;
    int rank = 0;
    int pid = 0;
    std::optional<int> exit_code = {};  ///< without one: a signal
    int signal = 0;
    bool out_of_memory = false;  ///< killed for the memory that it or its node used
    /// Of its error file: "ValueError: no such column"; without one empty.
    std::string error = {};
    std::string error_file = {};  ///< where it is; empty without one
    std::uint64_t steps = 0;      ///< that it had made, as it counted them itself
    WallTime when = {};           ///< of its error file if there is one
};

/// The workers of one node: one set of them at a time, of one generation.
///
/// A seam: processes on this machine, and simulated ones. Thread: the loop of its owner, which
/// outlives nothing of it: stop() returns before it is destroyed, or the workers go on without it.
class Workers {
  public:
    virtual ~Workers() = default;

    /// Of the set that runs, also of one that an earlier agent had started; nothing: none does.
    /// Also when all of its workers have ended, until stop().
    virtual std::optional<job_protocol::World> running() const = 0;
    /// Starts a set as member of that world. None runs before. On an error none runs after it
    /// either, and it says which worker could not be started, and why.
    virtual Task<Result<void>> start(job_protocol::World world,
                                     std::vector<launch::WorkerStart> workers) = 0;
    /// The next that ended by itself, each once, in the order of their own times as far as it is
    /// known. Of a set of an earlier agent all are told anew, also what was told to that, and what
    /// it had begun to stop: nobody else remembers them. Ends of a set that was stopped are told no
    /// more.
    virtual Task<WorkerEnd> next_end() = 0;
    /// SIGTERM to all, SIGKILL to what is left after `grace` (at once when it is zero). Returns
    /// when every process of the set has gone, those that workers started included.
    virtual Task<void> stop(Duration grace) = 0;
    /// The most steps that one of the running set has made; nothing when none of them counts.
    virtual std::optional<std::uint64_t> steps() const = 0;
};

}  // namespace muster::workers
