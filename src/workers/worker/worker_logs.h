#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "workers/logs/log_plan.h"
#include "workers/shim/order.h"
#include "workers/workers.h"

namespace muster::workers {

/// Where the output and the error file of one worker go.
struct WorkerFiles {
    OutputOrder out = {};
    OutputOrder error = {};
    std::string error_file = {};  ///< empty: none
};

/// The log files of an agent's workers, laid out as torchrun does: <dir>/<run
/// id>_<random>/attempt_<restarts>/<local rank>/ with stdout.log, stderr.log and error.json;
/// filtered_stdout.log and filtered_stderr.log, shared by all ranks, are beside the directories of
/// the ranks. Without the directory of the run, as dlrover-run does it. Creates directories;
/// removing them is up to the user. A worker that starts again in the same attempt, for instance
/// after a change of members, continues in the same files.
class WorkerLogs {
  public:
    /// `temporary`: where the run's directory is created if files are wanted and no directory was
    /// given.
    WorkerLogs(LogPlan plan, bool run_level, std::filesystem::path temporary)
        : plan_(std::move(plan)), run_level_(run_level), temporary_(std::move(temporary)) {}

    /// Run id and restart count come from the worker's environment. `own` is the job's directory,
    /// for an error file if no other file is written.
    Result<WorkerFiles> prepare(const launch::WorkerStart& worker,
                                const std::filesystem::path& own);

    const LogPlan& plan() const { return plan_; }
    /// Empty if there are no files so far.
    const std::filesystem::path& run_directory() const { return run_; }

  private:
    Result<void> make_run_directory(const std::string& run_id);

    LogPlan plan_;
    bool run_level_;
    std::filesystem::path temporary_;
    std::filesystem::path run_;
};

/// The value of a worker's variable, or `otherwise`.
std::string value_of(const launch::WorkerStart& worker, const std::string& variable,
                     const std::string& otherwise = {});

}  // namespace muster::workers
