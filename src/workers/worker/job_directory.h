#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::workers {

/// The directory of one agent of one job on this machine: sockets of shims, progress files, error
/// files that nobody asked to keep. Private (0700), and claimed by a lock for as long as the agent
/// lives, so that neither another agent of the job nor another job meets it.
///
/// Owns the lock. The destructor removes the directory if nothing is left in it.
class JobDirectory {
  public:
    /// The directory below `base` that `identity` has: the same for an agent and for the one that
    /// follows when it was killed, and so it says all that tells jobs and agents apart (run id,
    /// endpoint, node rank). Where several agents have the same, each gets one of its own, and
    /// those that a killed agent left come first.
    static Result<JobDirectory> claim(const std::filesystem::path& base,
                                      const std::string& identity);

    JobDirectory(JobDirectory&&) = default;
    JobDirectory& operator=(JobDirectory&&) = delete;
    ~JobDirectory();

    const std::filesystem::path& path() const { return path_; }
    int fd() const { return lock_.get(); }

  private:
    JobDirectory(std::filesystem::path path, UniqueFd lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    UniqueFd lock_;
};

}  // namespace muster::workers
