#pragma once

#include <filesystem>
#include <memory>

#include "launch/placement.h"
#include "workers/logs/log_plan.h"
#include "workers/spares/spares.h"
#include "workers/worker/job_directory.h"
#include "workers/workers.h"

namespace muster::workers {

struct LocalWorkersOptions {
    LogPlan logs = {};
    /// Log files in a directory of the run, as torchrun has them; dlrover-run has none.
    bool run_level = true;
    /// Where log files go when they are wanted and no directory was given.
    std::filesystem::path temporary = "/tmp";
    launch::PlacementWish placement = {};
    /// How long workers go on without an agent: one that comes meanwhile takes them over.
    Duration orphan_grace = std::chrono::seconds(1);
    /// Nothing: no warm spares.
    std::optional<SpareOptions> spares = {};
};

/// The workers of this node as processes of this machine, each below a shim of its own
/// (docs/design/elastic.md, "Workers").
///
/// A worker is in a session and a process group of its own, with /dev/null as input. What it starts
/// is its own, however it flees: when it fails, all that is killed at once; when it ends well, or
/// is stopped, with stop(). It finds
///
///     TORCHELASTIC_ERROR_FILE   where torch's @record writes; not with --log-dir /dev/null
///     MUSTER_PROGRESS           its ProgressFile
///
/// A set runs from start() to the end of stop(), also when all of its workers have ended. An error
/// file in the job's own directory goes with the set: who wants its traceback reads it with the
/// end.
///
/// Owns the job's directory, sockets and descriptors. Makes the process a subreaper. An agent that
/// is killed needs nothing of this to be called: the next one finds its workers, or they end. Ends
/// that an earlier agent may or may not have told are told again.
///
/// With spares, a set's workers leave each a warm spare behind, in which its successor starts.
///
/// Stop order: stop() and end_spares(), or let_go() for workers that go on; then destroy. Thread:
/// the loop.
class LocalWorkers final : public Workers {
  public:
    /// Takes over what runs in the directory.
    static Task<Result<std::unique_ptr<LocalWorkers>>> open(asio::any_io_executor executor,
                                                            Clock& clock, JobDirectory directory,
                                                            LocalWorkersOptions options);
    ~LocalWorkers() override;

    std::optional<job_protocol::World> running() const override;
    /// kInvalid: a program that is missing or can't be executed, before any worker has started.
    Task<Result<void>> start(job_protocol::World world,
                             std::vector<launch::WorkerStart> workers) override;
    Task<WorkerEnd> next_end() override;
    Task<void> stop(Duration grace) override;
    std::optional<std::uint64_t> steps() const override;

    /// No more of them; returns when they are gone.
    Task<void> end_spares();
    /// Spares that have imported, and wait.
    int spares_ready() const;

    /// Lets the workers go on without us, for another agent.
    Task<void> let_go();

    /// Where log files are; empty: there are none so far.
    const std::filesystem::path& log_directory() const;
    /// The pid of a worker that runs, for `muster kill`; 0 for none.
    int pid_of(int local_rank) const;

  private:
    struct State;
    explicit LocalWorkers(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace muster::workers
