#pragma once

#include <signal.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/time/clock.h"
#include "workers/first_cause.h"
#include "workers/worker/job_directory.h"
#include "workers/worker/memory_kills.h"
#include "workers/worker/worker.h"
#include "workers/worker/worker_set_state.h"
#include "workers/workers.h"

namespace muster::workers {

/// The workers of this node that run as members of one world, if any, and how they end.
///
/// What the next agent must know of them is in the job's directory from save() until no process of
/// theirs is left. Owns the workers. Stop order: end(), or let_go() for workers that continue; then
/// destroy. Thread: the loop.
class WorkerSet {
  public:
    /// The directory must outlive it.
    WorkerSet(asio::any_io_executor executor, Clock& clock, const JobDirectory& directory);

    /// nullopt if there is no set.
    const std::optional<WorkerSetState>& state() const { return state_; }
    const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
    /// Notified of each step of a worker.
    Signal& changed() { return changed_; }
    MemoryKills& kills() { return kills_; }

    /// Takes over the set of an earlier agent, if workers of it run in the directory.
    Task<void> take_over();

    /// Begins a set without workers. There must be no set.
    void begin(job_protocol::World world);
    /// Adds a worker that is going to start.
    void plan(WorkerRecord record) { state_->workers.push_back(std::move(record)); }
    WorkerRecord& record_of(int local_rank);
    Result<void> save() const;
    /// Adds a worker that is starting under this shim.
    void add(WorkerRecord record, ProgressFile progress, UniqueFd control, pid_t shim);
    /// Adds a spare that has become the worker of that record.
    void add(std::unique_ptr<Worker> spare, const WorkerRecord& record);
    /// Returns when each worker has started or failed to start, or when a shim does not answer in
    /// time.
    Task<void> wait_until_started();

    /// The earliest end that has not been reported yet.
    Task<WorkerEnd> next_end();
    /// Sends SIGTERM, or the signal that use_signal() named, and SIGKILL after the grace. Returns
    /// when no process of any worker is left.
    Task<void> end(Duration grace);
    void use_signal(int signal) { end_signal_ = signal; }
    /// Ends the grace of a set that is being ended.
    void hurry();
    /// How the workers of the set that was ended last failed meanwhile, or just before; with the
    /// content of their error files, which are gone by then. Without those that the end killed.
    const std::vector<Failure>& late_failures() const { return late_; }
    /// Leaves the workers running.
    Task<void> let_go();

  private:
    std::function<void(Worker&, ProcessEnd)> on_end();
    void ended(Worker& worker, ProcessEnd how);
    Failure failure_of(Worker& worker, ProcessEnd how);
    bool is_own_failure(const WorkerEnd& end) const;
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
    int end_signal_ = SIGTERM;
    std::vector<Failure> late_;
};

}  // namespace muster::workers
