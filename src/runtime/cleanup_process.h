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

/// A small process of ours that briefly outlives us: when we have ended, and every process that it
/// was told about has, it removes the directories and cgroups that it was told about. After an
/// ordinary end there is nothing left to do. It is told what to remove before that is made, so that
/// a kill can't come in between; what is claimed by a lock stays claimed until it is removed.
///
/// Nothing else depends on it. If it is killed, that is logged once, and what it would be told
/// later is lost; if we are killed too, `muster clean` has to remove what is left.
///
/// The caller keeps its descriptors. Thread: one.
class CleanupProcess {
  public:
    static Result<std::unique_ptr<CleanupProcess>> start();
    /// Lets it do its work now, and waits for it: the processes must have ended.
    ~CleanupProcess();
    CleanupProcess(const CleanupProcess&) = delete;
    CleanupProcess& operator=(const CleanupProcess&) = delete;

    /// A process to wait for.
    Result<void> wait_for(int pidfd);
    /// A directory to remove as remove_run_directory() does, even if it does not exist yet.
    Result<void> remove_directory(const std::filesystem::path& directory, std::string_view marker);
    /// The same for a cgroup; processes that still run in it are killed.
    Result<void> remove_cgroup(const std::string& group);
    /// Keeps the lock of one of these for as long as this process exists.
    Result<void> hold(int lock);

    pid_t pid() const { return pid_; }

  private:
    CleanupProcess(int control, pid_t pid) : control_(control), pid_(pid) {}

    Result<void> tell(CleanupMessage kind, const std::string& path, std::span<const int> fds);
    bool was_killed() const;

    int control_;  ///< owned; the process acts when it closes
    pid_t pid_;
    bool missed_ = false;  ///< known to have been killed
};

/// CleanupProcess::start() executes this very program again. main() calls this before anything
/// else; if it returns an exit status, main() returns that.
std::optional<int> run_as_cleanup_process(int argc, char** argv);

}  // namespace muster::runtime
