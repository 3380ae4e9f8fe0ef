#include "control_plane/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <tuple>

#include "base/unique_fd.h"
#include "runtime/stale_state.h"

namespace muster::control_plane {

namespace {

std::string path_below(const std::filesystem::path& parent, std::string_view prefix, Rng& rng) {
    return (parent / fmt::format("{}{:016x}", prefix, rng.next())).string();
}

Error no_directory(const std::filesystem::path& parent, int error) {
    return system_error("making a directory for the run's state in " + parent.string(), error);
}

}  // namespace

Result<StateDir> StateDir::create(const std::filesystem::path& parent, Rng& rng,
                                  runtime::CleanupProcess& cleanup) {
    for (;;) {
        const std::string path = path_below(parent, kStateDirPrefix, rng);
        if (std::error_code error; std::filesystem::exists(path, error)) continue;
        // First, so that a kill can't come in between. The name can't be guessed.
        TRY_VOID(cleanup.remove_directory(path, kStateDirMarker));
        if (::mkdir(path.c_str(), 0700) < 0) return no_directory(parent, errno);
        const int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (lock < 0 && errno != ENOENT) return system_error("opening " + path, errno);
        struct stat info{};
        if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 && ::fstat(lock, &info) == 0 &&
            info.st_nlink > 0) {
            StateDir made(path, lock, false);
            const UniqueFd marker(
                ::openat(lock, kStateDirMarker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            if (!marker) return no_directory(parent, errno);
            TRY_VOID(cleanup.hold(lock));
            return made;
        }
        // A clean-up took it for a leftover before it was locked.
        if (lock >= 0) ::close(lock);
    }
}

Result<StateDir> StateDir::create_kept(const std::filesystem::path& parent, Rng& rng) {
    const std::string path = path_below(parent, kKeptDirPrefix, rng);
    if (::mkdir(path.c_str(), 0700) < 0) return no_directory(parent, errno);
    return StateDir(path, -1, true);
}

StateDir::~StateDir() {
    if (path_.empty()) return;
    // What can't be removed is only litter in a temporary directory.
    if (!kept_) std::ignore = runtime::remove_run_directory(path_, kStateDirMarker);
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace muster::control_plane
