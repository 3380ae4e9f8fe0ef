#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/internal/record/run_choice.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

// The names of a folder's parts.
inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kObjectsFile = "objects.json";
inline constexpr const char* kManifestFile = "manifest.yaml";
inline constexpr const char* kEnvironmentFile = "environment";
inline constexpr const char* kPackagesFile = "packages";
inline constexpr const char* kOutputFile = "output.log";
inline constexpr const char* kLogsDirectory = "logs";

/// Where runs are kept: MUSTER_RUNS_DIR, else ~/.muster/runs. Absolute.
std::filesystem::path runs_directory(const control_plane::Caller& caller);

/// The folder of a run of this process: it counts as alive as long as this exists, which the kernel
/// sees to by a lock (flock).
class RunFolder {
  public:
    /// "JOB-N" below `runs`, which is made if it is missing; N is one more than the greatest there
    /// is. kForbidden: `runs` is another user's, or others may write to it. kUnavailable: there is
    /// hardly any room, and logs would be lost.
    static Result<RunFolder> create(const std::filesystem::path& runs, const std::string& job);

    const std::filesystem::path& path() const { return path_; }
    std::string name() const { return path_.filename(); }
    /// Replaces a file in one step, for this user only. It may be lost if the machine loses power.
    Result<void> write(const char* file, std::string_view text) const;
    /// Removes it, with everything in it.
    void discard() const;

  private:
    RunFolder(std::filesystem::path path, UniqueFd lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    UniqueFd lock_;
};

/// The runs of a directory, newest first. A folder whose record can't be read has one with its name
/// only; a directory that does not exist has no runs.
Result<std::vector<FoundRun>> list_runs(const std::filesystem::path& runs);
/// One of them as it is now; kNotFound if it is gone.
Result<FoundRun> read_run(const std::filesystem::path& folder);

/// Removes ended runs until the rest is within the limits.
void remove_old_runs(const std::filesystem::path& runs, const RunLimits& limits);
Result<void> remove_run(const std::filesystem::path& folder);

/// The text of one of its files; kNotFound if it is not there.
Result<std::string> read_run_file(const std::filesystem::path& folder, const char* file);

std::uint64_t bytes_of_folder(const std::filesystem::path& folder);
/// Removes the oldest files below `directory` until those that stay have `bytes` at most. Returns
/// how many it removed.
std::size_t trim_files(const std::filesystem::path& directory, std::uint64_t bytes);

}  // namespace muster::cli
