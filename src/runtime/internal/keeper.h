#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/internal/unique_fd.h"

namespace muster::runtime {

/// What a process is started with to become a keeper.
inline constexpr const char* kKeeperArgument = "--muster-keeper";

/// A small process of ours that outlives us by moments: when we have ended, and every process that
/// it was told of has, it removes the directories and cgroups that it was told of. After an
/// ordinary end it finds nothing to do. Whatever is claimed by a lock stays claimed until then.
///
/// Thread: one.
class Keeper {
  public:
    /// `program` is this binary, opened.
    static Result<Keeper> start(int program);
    /// Lets it do its work now, and waits for it: the processes must have ended.
    ~Keeper();
    Keeper(Keeper&& other) noexcept
        : control_(std::move(other.control_)), pid_(std::exchange(other.pid_, -1)) {}
    Keeper& operator=(Keeper&& other) noexcept {
        std::swap(control_, other.control_);
        std::swap(pid_, other.pid_);
        return *this;
    }

    /// A process to wait for.
    Result<void> wait_for(int pidfd) const;
    /// A directory to remove with all that is in it; `lock` is the descriptor that claims it.
    Result<void> remove_directory(const std::filesystem::path& directory, int lock) const;
    /// The same for a cgroup; what still runs in it is killed.
    Result<void> remove_cgroup(const std::string& group, int lock) const;

  private:
    Keeper(UniqueFd control, pid_t pid) : control_(std::move(control)), pid_(pid) {}

    UniqueFd control_;  ///< its end is ours
    pid_t pid_;
};

/// The body of the process. Returns its exit status.
int run_keeper();

}  // namespace muster::runtime
