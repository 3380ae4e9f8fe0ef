#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::workers {

/// The directory of one agent of one job on this machine: sockets of shims, progress files, and
/// error files that no flag asked to keep. Private (0700) and locked while the agent lives, so that
/// it is shared neither with another agent of the job nor with another job.
///
/// Owns the lock. The destructor removes the directory if only its marker (kJobMarker) is in it.
class JobDirectory {
  public:
    /// The directory under `base` for `identity`, which must be the same for an agent and for its
    /// successor after a kill, and therefore names all that distinguishes jobs and agents (run id,
    /// endpoint, node rank). If several agents have the same identity, each gets its own directory;
    /// those that killed agents left are used first. A new one has a name that can't be guessed,
    /// so that no other user of the machine can be there first; what others made is passed over.
    static Result<JobDirectory> claim(const std::filesystem::path& base,
                                      const std::string& identity);

    JobDirectory(JobDirectory&&) = default;
    JobDirectory& operator=(JobDirectory&&) = delete;
    ~JobDirectory();

    const std::filesystem::path& path() const { return path_; }
    int fd() const { return lock_.get(); }

  private:
    JobDirectory(std::filesystem::path path, UniqueFd lock);

    std::filesystem::path path_;
    UniqueFd lock_;
};

}  // namespace muster::workers
