#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "cli/internal/record/run_recorder.h"
#include "cli/internal/run/console.h"
#include "cli/internal/run/run_options.h"
#include "cli/internal/run/run_session.h"
#include "control_plane/daemon/background.h"
#include "control_plane/daemon/caller.h"
#include "manifest/check.h"

namespace muster::cli {

/// A run with its record, and with the terminal or, for --detach, without it. Thread: the loop of the
/// session.
class RecordedRun {
  public:
    /// The objects have names. With --detach this returns only in the child, so no thread exists and
    /// `loop`, if there is one, has not run; it is an error then if no folder can be made.
    static Result<std::unique_ptr<RecordedRun>> begin(
        const RunOptions& options, const control_plane::Caller& caller,
        const std::vector<manifest::CheckedObject>& objects, asio::io_context* loop);

    /// Adds to what a console shows, and to how a session runs.
    ConsoleOptions recorded(ConsoleOptions shown);
    RunSession::Options recorded(RunSession::Options options, kube::Client& client, Clock& clock);
    std::filesystem::path logs_directory() const { return recorder_.logs_directory(); }
    /// Why there is no record, if there is none.
    void tell_start(Console& console);

    /// Follows the session in tasks of the group.
    void follow(TaskGroup& tasks, RunSession& session, kube::Client& client, Clock& clock);
    /// The session has ended: keeps how, and notifies.
    void end(const RunSession& session, int status, WallTime now, Console& console);
    /// It could not begin, or was refused: prints why. Returns 1.
    int fail(const Error& error);

  private:
    RecordedRun(const RunOptions& options, const control_plane::Caller& caller,
                RunRecorder recorder, std::optional<Error> no_folder)
        : options_(options),
          caller_(caller),
          recorder_(std::move(recorder)),
          no_folder_(std::move(no_folder)) {}

    Result<void> enter_background(asio::io_context* loop);
    Task<void> announce(RunSession& session);

    const RunOptions& options_;
    const control_plane::Caller& caller_;
    RunRecorder recorder_;
    std::optional<Error> no_folder_;
    std::optional<control_plane::Background> background_;
};

}  // namespace muster::cli
