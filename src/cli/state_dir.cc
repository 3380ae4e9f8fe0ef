#include "cli/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace muster::cli {

Result<StateDir> StateDir::create(const std::filesystem::path& parent, bool kept) {
    for (;;) {
        std::string path =
            (parent / (kept ? "muster-kept-XXXXXX" : std::string(kStateDirPrefix) + "XXXXXX"))
                .string();
        if (::mkdtemp(path.data()) == nullptr)
            return system_error("making a directory for the run's state in " + parent.string(),
                                errno);
        if (kept) return StateDir(path, -1, true);
        const int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (lock < 0 && errno != ENOENT) return system_error("opening " + path, errno);
        struct stat info{};
        if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 && ::fstat(lock, &info) == 0 &&
            info.st_nlink > 0)
            return StateDir(path, lock, false);
        // Somebody who cleans up took it for a leftover before it was locked.
        if (lock >= 0) ::close(lock);
    }
}

StateDir::~StateDir() {
    if (path_.empty()) return;
    std::error_code ignored;  // what can't be removed is only litter in a temporary directory
    if (!kept_) std::filesystem::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace muster::cli
