#pragma once

#include <cstdint>
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

/// What all workers of this node are started with.
struct WorkerSurroundings {
    const JobDirectory& directory;
    int shim_program = -1;
    std::string parent_group = {};  ///< of cgroups; empty: none
    std::uint64_t orphan_grace_ms = 0;
    launch::PlacementWish placement = {};
};

/// Starts the workers of a set: each in its warm spare, or cold where there is none or it does not
/// become the worker. Thread: the loop.
class WorkerSetStarter {
  public:
    /// What it refers to must outlive it.
    WorkerSetStarter(asio::any_io_executor executor, Clock& clock, WorkerSurroundings around,
                     WorkerSet& set, WorkerLogs& logs);

    /// Null: there are none, or none any more.
    void use(Spares* spares) { spares_ = spares; }

    /// The workers of a set that has begun. kInvalid: a program that is missing or can't be
    /// executed, before any worker has started. After an error the set is to be ended, and then
    /// give_up() called.
    Task<Result<void>> start(std::vector<launch::WorkerStart> wanted);
    /// Spares that were taken and have become no worker are ended.
    void give_up();

  private:
    /// A worker that starts.
    struct Start {
        launch::WorkerStart wanted;
        WorkerProgram program;
        launch::Placement placement = {};
        Spare* spare = nullptr;  ///< that shall be it
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
    std::vector<Start> starts_;  ///< until all run
};

}  // namespace muster::workers
