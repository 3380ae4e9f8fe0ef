#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/time/clock.h"
#include "workers/worker/job_directory.h"
#include "workers/worker/memory_kills.h"
#include "workers/worker/worker.h"
#include "workers/worker/worker_set_state.h"
#include "workers/workers.h"

namespace muster::workers {

/// The workers of this node that run as members of one world, and how they end; or none.
///
/// What the next agent must know of them is in the job's directory from save() until nothing of
/// them is left. Owns the workers. Stop order: end(), or let_go() for workers that continue; then
/// destroy. Thread: the loop.
class WorkerSet {
  public:
    /// The directory must outlive it.
    WorkerSet(asio::any_io_executor executor, Clock& clock, const JobDirectory& directory);

    /// Nothing: there is no set.
    const std::optional<WorkerSetState>& state() const { return state_; }
    const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
    /// Notified of each step of a worker.
    Signal& changed() { return changed_; }
    MemoryKills& kills() { return kills_; }

    /// Of an agent before this one, if workers of it run in the directory.
    Task<void> take_over();

    /// A set without workers. There must be none.
    void begin(job_protocol::World world);
    /// A worker that is to start.
    void plan(WorkerRecord record) { state_->workers.push_back(std::move(record)); }
    WorkerRecord& record_of(int local_rank);
    Result<void> save() const;
    /// One that starts, below this shim.
    void add(WorkerRecord record, ProgressFile progress, UniqueFd control, pid_t shim);
    /// A spare that has become the worker of that record.
    void add(std::unique_ptr<Worker> spare, const WorkerRecord& record);
    /// Returns when each has started or failed to, or when a shim does not answer in time.
    Task<void> wait_until_started();

    /// The earliest of those that nobody was told.
    Task<WorkerEnd> next_end();
    /// SIGTERM, and SIGKILL after the grace. Returns when nothing is left of any.
    Task<void> end(Duration grace);
    /// They continue without us.
    Task<void> let_go();

  private:
    std::function<void(Worker&, ProcessEnd)> on_end();
    void ended(Worker& worker, ProcessEnd how);
    void add_lost(const WorkerRecord& record);
    Task<void> all_started();
    Task<void> all_gone();
    void forget();

    asio::any_io_executor executor_;
    Clock& clock_;
    const JobDirectory& directory_;
    MemoryKills kills_;
    Signal changed_;
    Signal ends_changed_;
    std::optional<WorkerSetState> state_;
    bool stopping_ = false;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<WorkerEnd> ends_;
};

}  // namespace muster::workers
