#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/placement.h"
#include "workers/first_cause.h"
#include "workers/local/worker_set.h"
#include "workers/logs/log_plan.h"
#include "workers/spares/spares.h"
#include "workers/worker/job_directory.h"
#include "workers/workers.h"

namespace muster::workers {

struct LocalWorkersOptions {
    LogPlan logs = {};
    /// Put log files into a directory for the run, as torchrun does; dlrover-run has none.
    bool run_level = true;
    /// Where log files go if they are wanted and no directory was given.
    std::filesystem::path temporary = "/tmp";
    launch::PlacementWish placement = {};
    /// How long workers run without an agent. A new agent takes them over meanwhile.
    Duration orphan_grace = std::chrono::seconds(1);
    /// If the agent was killed, its workers' end removes all of the job's directory but the files
    /// whose names begin so; empty: all of it.
    std::string keep = {};
    /// The standard input of local rank 0, which its owner keeps open; -1: it has none.
    int input = -1;
    /// nullopt: no warm spares.
    std::optional<SpareOptions> spares = {};
    /// The soft limit of the workers' core dumps; unset: that of this process.
    std::optional<std::uint64_t> core_bytes = {};
};

/// Runs the workers of this node as processes of this machine, each under its own shim
/// (docs/design/elastic.md, "Workers").
///
/// A worker has its own session and process group, and /dev/null as input, but for local rank 0. It
/// owns every process that it starts, however that tries to escape: all of them are killed at once
/// when the worker fails or is stopped. If it ends well, what it leaves may run until it finishes or
/// the grace of stop() is over. Its environment has
///
///     TORCHELASTIC_ERROR_FILE   where torch's @record writes; not with --log-dir /dev/null
///     MUSTER_PROGRESS           its ProgressFile
///
/// A set runs from start() until stop() returns, even if all of its workers have ended before. An
/// error file in the job's own directory is removed with the set: read it when you get the end.
///
/// Owns the job's directory, sockets and descriptors. Makes the process a subreaper. If the agent
/// is killed, no cleanup has to run: the next agent finds its workers, or they end by themselves.
/// Ends that an earlier agent may already have reported are reported again.
///
/// With spares, each worker of a set gets a warm spare, in which its successor starts.
///
/// Stop order: stop() and end_spares(), or let_go() for workers that continue; then destroy.
/// Thread: the loop.
class LocalWorkers final : public Workers {
  public:
    /// Takes over the workers that run in the directory.
    static Task<Result<std::unique_ptr<LocalWorkers>>> open(asio::any_io_executor executor,
                                                            Clock& clock, JobDirectory directory,
                                                            LocalWorkersOptions options);
    ~LocalWorkers() override;

    std::optional<job_protocol::World> running() const override;
    /// kInvalid, before any worker has started: a program is missing or can't be executed.
    Task<Result<void>> start(job_protocol::World world,
                             std::vector<launch::WorkerStart> workers) override;
    Task<WorkerEnd> next_end() override;
    Task<void> stop(Duration grace) override;
    std::optional<std::uint64_t> steps() const override;

    /// stop() sends this signal in place of SIGTERM from now on.
    void end_with(int signal) { set().use_signal(signal); }
    /// Ends the grace of a stop() that is under way.
    void hurry() { set().hurry(); }
    /// The workers with a process that has not ended: "rank 0 (pid 12), rank 1 (pid 13)".
    std::string still_there() const;
    /// How workers failed that stop() did not report any more; of the last set that was stopped.
    const std::vector<Failure>& late_failures() const { return set().late_failures(); }

    /// Ends all spares and makes no more. Returns when they are gone.
    Task<void> end_spares();
    /// The number of spares that have finished their imports and wait.
    int spares_ready() const;

    /// Leaves the workers running for another agent.
    Task<void> let_go();

    /// Where log files are; empty if there are none so far.
    const std::filesystem::path& log_directory() const;
    /// The pid of a running worker, for `muster kill`; 0 if there is none.
    int pid_of(int local_rank) const;

  private:
    struct State;
    WorkerSet& set() const;
    explicit LocalWorkers(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace muster::workers
