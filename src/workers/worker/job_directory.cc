#include "workers/worker/job_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <vector>

#include "workers/shim/order.h"

namespace muster::workers {

namespace {

/// FNV-1a: the same in every run of the program.
std::uint64_t number_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : text) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 0x100000001b3;
    }
    return hash;
}

/// A lock on it, unless another agent has it or it is not ours alone: then someone else knew the
/// name that we would take.
std::optional<UniqueFd> try_claim(const std::filesystem::path& path) {
    UniqueFd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!lock || ::fstat(lock.get(), &info) < 0 || info.st_uid != ::geteuid() ||
        (info.st_mode & 077) != 0)
        return std::nullopt;
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0)
        if (errno != EINTR) return std::nullopt;
    // Its previous owner may have removed it between our steps.
    struct stat named{};
    if (::lstat(path.c_str(), &named) < 0 || named.st_ino != info.st_ino ||
        named.st_dev != info.st_dev)
        return std::nullopt;
    return std::optional(std::move(lock));
}

/// Without it, `muster clean` leaves the directory alone.
void mark(int directory) {
    const UniqueFd marker(
        ::openat(directory, kJobMarker, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
}

/// Those that agents of this identity have or left behind, in the order of their names.
std::vector<std::filesystem::path> candidates(const std::filesystem::path& root,
                                              std::string_view prefix) {
    std::vector<std::filesystem::path> found;
    std::error_code unreadable;  // then each agent has a new one
    for (std::filesystem::directory_iterator at(root, unreadable), end; !unreadable && at != end;
         at.increment(unreadable))
        if (at->path().filename().native().starts_with(prefix)) found.push_back(at->path());
    std::ranges::sort(found);
    return found;
}

}  // namespace

Result<JobDirectory> JobDirectory::claim(const std::filesystem::path& base,
                                         const std::string& identity) {
    std::error_code error;
    const std::filesystem::path root = std::filesystem::absolute(base, error);
    if (error) return system_error("finding " + base.string(), error.value());
    const std::string prefix = fmt::format("muster-{}-{:016x}-", ::geteuid(), number_of(identity));
    for (std::filesystem::path& path : candidates(root, prefix))
        if (std::optional<UniqueFd> lock = try_claim(path))
            return JobDirectory(std::move(path), *std::move(lock));
    for (;;) {
        std::string made = (root / (prefix + "XXXXXX")).string();
        if (::mkdtemp(made.data()) == nullptr)
            return system_error("making a directory of the job in " + root.string(), errno);
        // An agent that starts at the same time may have been faster.
        if (std::optional<UniqueFd> lock = try_claim(made))
            return JobDirectory(std::move(made), *std::move(lock));
    }
}

JobDirectory::JobDirectory(std::filesystem::path path, UniqueFd lock)
    : path_(std::move(path)), lock_(std::move(lock)) {
    mark(lock_.get());
}

JobDirectory::~JobDirectory() {
    if (!lock_) return;
    ::unlinkat(lock_.get(), kJobMarker, 0);
    if (::rmdir(path_.c_str()) < 0) mark(lock_.get());
}

}  // namespace muster::workers
