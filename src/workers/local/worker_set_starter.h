#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/time/clock.h"
#include "launch/placement.h"
#include "workers/local/worker_set.h"
#include "workers/spares/spares.h"
#include "workers/worker/job_directory.h"
#include "workers/worker/worker_logs.h"
#include "workers/worker/worker_program.h"

namespace muster::workers {

/// What all workers of this node have in common when they start.
struct WorkerSurroundings {
    const JobDirectory& directory;
    int shim_program = -1;
    int input = -1;                 ///< standard input of local rank 0; -1: none
    std::string parent_group = {};  ///< parent of the workers' cgroups; empty: none
    std::uint64_t orphan_grace_ms = 0;
    std::string keep = {};  ///< as in ShimOrder
    launch::PlacementWish placement = {};
    std::optional<std::uint64_t> core_bytes = {};  ///< as in ShimOrder
};

/// Starts the workers of a set: each in its warm spare, or cold if there is no spare or the spare
/// fails to become the worker. Thread: the loop.
class WorkerSetStarter {
  public:
    /// The referenced objects must outlive it.
    WorkerSetStarter(asio::any_io_executor executor, Clock& clock, WorkerSurroundings around,
                     WorkerSet& set, WorkerLogs& logs);

    /// Null if there are no spares, or no more.
    void use(Spares* spares) { spares_ = spares; }

    /// Starts the workers of a set that has begun. kInvalid, before any worker has started: a
    /// program is missing or can't be executed. After an error, end the set and then call
    /// give_up().
    Task<Result<void>> start(std::vector<launch::WorkerStart> wanted);
    /// Ends the spares that were taken but became no worker.
    void give_up();

  private:
    /// A worker that is being started.
    struct Start {
        launch::WorkerStart wanted;
        WorkerProgram program;
        launch::Placement placement = {};
        Spare* spare = nullptr;  ///< that is to become the worker
    };

    Result<void> prepare(std::vector<launch::WorkerStart> wanted);
    void choose_spare(Start& start);
    WorkerRecord cold_record(const launch::WorkerStart& wanted) const;
    WorkerRecord& record_of(const Start& start) { return set_.record_of(start.wanted.local_rank); }
    Result<ShimOrder> order_for(std::size_t which);
    Result<void> start_cold(std::size_t which);
    Task<void> start_warm(std::size_t which, Result<void>& outcome);
    Task<Result<void>> start_each();
    Result<void> check_started() const;
    void want_spares();

    asio::any_io_executor executor_;
    Clock& clock_;
    WorkerSurroundings around_;
    WorkerSet& set_;
    WorkerLogs& logs_;
    Spares* spares_ = nullptr;
    std::vector<Start> starts_;  ///< until all of them run
};

}  // namespace muster::workers
