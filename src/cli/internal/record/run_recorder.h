#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/record/run_objects.h"
#include "cli/internal/record/run_output.h"
#include "cli/internal/record/run_record.h"
#include "cli/internal/run/run_session.h"
#include "control_plane/daemon/caller.h"
#include "kube/client/client.h"

namespace muster::cli {

/// Keeps a run's folder while it runs. Nothing that fails here ends the run: the first failure is
/// told, and nothing more is written then. Without a folder it remembers what a notification says.
/// Thread: the loop of the session; writes block.
class RunRecorder {
  public:
    /// `objects`: named; of them the manifest is kept, and what is followed.
    RunRecorder(std::optional<RunFolder> folder, RunRecord record, control_plane::Caller caller,
                const std::vector<manifest::CheckedObject>& objects);

    bool has_folder() const { return folder_.has_value(); }
    /// Only with one.
    const std::filesystem::path& folder() const { return folder_->path(); }
    const RunRecord& record() const { return record_; }
    /// Where the node keeps the logs; empty without a folder.
    std::filesystem::path logs_directory() const;

    /// Writes what `muster ps` shows, of the process that runs it. What would delay the start is
    /// written a moment later: manifest, environment and packages.
    void begin(pid_t pid);
    /// What the console shows.
    void add_output(std::string_view lines);
    /// Keeps the objects up to date until it is cancelled.
    Task<void> follow(RunSession& session, kube::Client& client, Clock& clock);
    /// The last state of the objects. Gives up after a moment.
    Task<void> take_last(kube::Client& client, Clock& clock);
    /// How it ended. The oldest runs are removed until all are within their bounds.
    void end(const RunSession& session, int status, WallTime now);
    /// It could not begin.
    void fail(const Error& error, WallTime now);
    /// A run that never began leaves nothing.
    void discard();

    /// What went wrong since the last call.
    std::optional<Error> take_failure();

  private:
    Task<void> take(kube::Client& client);
    void keep(const char* file, std::string_view text);
    void keep_parts_for_later();
    void end_as(RunEnd end);

    std::optional<RunFolder> folder_;
    RunRecord record_;
    control_plane::Caller caller_;
    std::vector<RunPlace> places_;
    std::vector<json::value> manifest_;  ///< without what Secrets have
    std::optional<RunOutput> output_;
    bool kept_parts_for_later_ = false;
    bool stopped_ = false;  ///< a write has failed
    std::optional<Error> failure_;
};

/// In the place of what a Secret has.
inline constexpr std::string_view kNotKept = "(not kept)";
/// The objects, without what Secrets have. Pure.
std::vector<json::value> kept_manifest(const std::vector<manifest::CheckedObject>& objects);

}  // namespace muster::cli
