#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "workers/logs/log_plan.h"
#include "workers/shim/order.h"
#include "workers/workers.h"

namespace muster::workers {

/// Where one worker's output and error file go.
struct WorkerFiles {
    OutputOrder out = {};
    OutputOrder error = {};
    std::string error_file = {};  ///< empty: none
};

/// The log files of an agent's workers: <dir>/<run id>_<random>/attempt_<restarts>/<local rank>/
/// with stdout.log, stderr.log and error.json, and filtered_stdout.log and filtered_stderr.log of
/// all ranks beside them, as torchrun has them; without the level of the run as dlrover-run has
/// them. Makes directories, and what it makes is the user's to remove. A worker that is started
/// again in the same attempt, as after a change of members, goes on in the same files.
class WorkerLogs {
  public:
    /// `temporary`: where the run's directory is made when files are wanted and none was given.
    WorkerLogs(LogPlan plan, bool run_level, std::filesystem::path temporary)
        : plan_(std::move(plan)), run_level_(run_level), temporary_(std::move(temporary)) {}

    /// Run and restarts are what the worker's environment says. `own` is the job's directory, for
    /// an error file when nothing else is written.
    Result<WorkerFiles> prepare(const launch::WorkerStart& worker,
                                const std::filesystem::path& own);

    const LogPlan& plan() const { return plan_; }
    /// Empty: no files so far.
    const std::filesystem::path& run_directory() const { return run_; }

  private:
    Result<void> make_run_directory(const std::string& run_id);

    LogPlan plan_;
    bool run_level_;
    std::filesystem::path temporary_;
    std::filesystem::path run_;
};

/// The value of a variable of a worker; `otherwise` when it has none.
std::string value_of(const launch::WorkerStart& worker, const std::string& variable,
                     const std::string& otherwise = {});

}  // namespace muster::workers
