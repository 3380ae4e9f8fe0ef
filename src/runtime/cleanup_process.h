#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace muster::runtime {

enum class CleanupMessage : char;

/// A small process of ours that outlives us by moments: when we have ended, and every process that
/// it was told of has, it removes the directories and cgroups that it was told of. After an
/// ordinary end it finds nothing to do. What is removed is told before it is made, so that no kill
/// comes between; what is claimed by a lock then stays claimed until it is removed.
///
/// Nothing else depends on it. When it is killed, that is told once, what it is told later is lost,
/// and should we be killed too, `muster clean` has to remove what is left.
///
/// Descriptors stay the caller's. Thread: one.
class CleanupProcess {
  public:
    static Result<std::unique_ptr<CleanupProcess>> start();
    /// Lets it do its work now, and waits for it: the processes must have ended.
    ~CleanupProcess();
    CleanupProcess(const CleanupProcess&) = delete;
    CleanupProcess& operator=(const CleanupProcess&) = delete;

    /// A process to wait for.
    Result<void> wait_for(int pidfd);
    /// A directory to remove with all that is in it, whether or not it is there yet.
    Result<void> remove_directory(const std::filesystem::path& directory);
    /// The same for a cgroup; what still runs in it is killed.
    Result<void> remove_cgroup(const std::string& group);
    /// Keeps the lock of one of these as long as it is there.
    Result<void> hold(int lock);

    pid_t pid() const { return pid_; }

  private:
    CleanupProcess(int control, pid_t pid) : control_(control), pid_(pid) {}

    Result<void> tell(CleanupMessage kind, const std::string& path, std::span<const int> fds);
    bool was_killed() const;

    int control_;  ///< owned; its end is ours
    pid_t pid_;
    bool missed_ = false;  ///< known to have been killed
};

/// CleanupProcess::start() executes this very program again. main() calls this before anything
/// else, and returns the exit status that it gives, if any.
std::optional<int> run_as_cleanup_process(int argc, char** argv);

}  // namespace muster::runtime
