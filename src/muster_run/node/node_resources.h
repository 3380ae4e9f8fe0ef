#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/world.h"
#include "launch/endpoint.h"
#include "launch/plan.h"
#include "launch/worker_start.h"
#include "muster_run/node/hook.h"
#include "muster_run/node/node_check_here.h"
#include "muster_run/node/node_store.h"
#include "muster_run/node/remembered_ends.h"
#include "muster_run/node/warm_files.h"
#include "workers/local/local_workers.h"

namespace muster::run {

/// The record of a master that this node hosts, in the job's directory.
inline constexpr const char* kMasterRecord = "master.record";

/// What workers get of what this program was started with.
struct WorkerInheritance {
    int input = -1;         ///< the standard input for local rank 0; -1: none
    rlim_t core_bytes = 0;  ///< the soft limit of core dumps
};

/// Whether nothing of other machines takes part, so that workers meet at 127.0.0.1 or ::1. Pure.
bool is_of_this_machine(const launch::LaunchPlan& plan);

/// What an agent works with on this node, and nothing of other nodes: the job's directory and what
/// is written into it, the workers, their store, and the node check.
///
/// Owns all of it. stop(), then destroy; also after an open() that failed. Thread: the loop.
class NodeResources {
  public:
    /// Clock and plan outlive this.
    NodeResources(const asio::any_io_executor& executor, Clock& clock,
                  const launch::LaunchPlan& plan, launch::Variables variables,
                  WorkerInheritance inheritance);

    /// Once, before anything else. `node` is this one. Takes over the workers of an agent that was
    /// killed. An error names the flag, file or port that it is about.
    Task<Result<void>> open(launch::NodeNames node);
    /// The workers end, and what was written for this run is removed.
    Task<void> stop();

    const std::filesystem::path& job_dir() const { return job_dir_; }
    const NodeStore& store() const { return *store_; }
    workers::Workers& workers() { return *remembered_; }
    /// Those of the workers that ran last. Their error files are kept beyond the job's directory, and
    /// the first cause goes to the error file that the caller named (TORCHELASTIC_ERROR_FILE).
    std::vector<workers::Failure> keep_failures() const;
    /// Workers that are stopped get this signal first, in place of SIGTERM.
    void end_with(int signal) { workers_->end_with(signal); }
    /// Workers that are being stopped have no more time.
    void hurry() { workers_->hurry(); }
    /// The workers with a process that has not ended; empty: none.
    std::string still_there() const { return workers_->still_there(); }
    /// At which probes of the node check are answered; 0: no check was asked for.
    std::uint16_t check_port() const { return check_.port; }

    /// As agent::AgentOwner.
    Result<std::vector<launch::WorkerStart>> make_workers(const job_protocol::World& world,
                                                          const job_protocol::Member& member);
    void begin_store(const job_protocol::World& world) { store_->begin(world); }
    Task<job_protocol::CheckResult> check(job_protocol::Check check);

  private:
    Task<Result<void>> open_workers();
    Result<void> open_store(const launch::NodeNames& node);

    asio::any_io_executor executor_;
    Clock& clock_;
    const launch::LaunchPlan& plan_;
    launch::Variables variables_;
    WorkerInheritance inheritance_;
    std::filesystem::path job_dir_;
    std::optional<Hook> hook_;
    std::optional<WarmFiles> warm_;
    std::unique_ptr<workers::LocalWorkers> workers_;
    std::unique_ptr<RememberedEnds> remembered_;
    std::unique_ptr<NodeStore> store_;
    NodeCheckHere check_;             ///< empty: none was asked for
    std::optional<int> size_before_;  ///< of the world that this node was in before
};

}  // namespace muster::run
