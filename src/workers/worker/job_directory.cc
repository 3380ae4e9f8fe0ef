#include "workers/worker/job_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

namespace muster::workers {

namespace {

/// The most agents with one identity on one machine.
constexpr int kMostAgents = 1000;

/// FNV-1a: the same in every run of the program.
std::uint64_t number_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : text) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 0x100000001b3;
    }
    return hash;
}

/// nullopt: another agent has it.
Result<std::optional<UniqueFd>> try_claim(const std::filesystem::path& path) {
    for (;;) {
        if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
            return system_error(fmt::format("making the job's directory {}", path.string()), errno);
        UniqueFd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!lock && errno == ENOENT) continue;
        if (!lock)
            return system_error(fmt::format("opening the job's directory {}", path.string()),
                                errno);
        struct stat info{};
        if (::fstat(lock.get(), &info) < 0)
            return system_error(fmt::format("looking at {}", path.string()), errno);
        if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
            return Error(Code::kForbidden,
                         fmt::format("{} exists and is not ours alone (user {}, mode {:o}): remove "
                                     "it, or set TMPDIR to a directory of your own",
                                     path.string(), info.st_uid, info.st_mode & 07777));
        if (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0) {
            if (errno == EINTR) continue;
            if (errno == EWOULDBLOCK) return std::nullopt;
            return system_error(fmt::format("locking {}", path.string()), errno);
        }
        // Its previous owner may have removed it between our steps.
        struct stat named{};
        if (::lstat(path.c_str(), &named) == 0 && named.st_ino == info.st_ino &&
            named.st_dev == info.st_dev)
            return std::optional(std::move(lock));
    }
}

}  // namespace

Result<JobDirectory> JobDirectory::claim(const std::filesystem::path& base,
                                         const std::string& identity) {
    std::error_code error;
    const std::filesystem::path root = std::filesystem::absolute(base, error);
    if (error) return system_error("finding " + base.string(), error.value());
    const std::string name = fmt::format("muster-{}-{:016x}", ::geteuid(), number_of(identity));
    for (int agent = 0; agent < kMostAgents; ++agent) {
        std::filesystem::path path = root / fmt::format("{}-{}", name, agent);
        TRY(std::optional<UniqueFd> lock, try_claim(path));
        if (lock) return JobDirectory(std::move(path), *std::move(lock));
    }
    return Error(Code::kConflict,
                 fmt::format("{} agents of this job run on this machine already", kMostAgents));
}

JobDirectory::~JobDirectory() {
    if (lock_) ::rmdir(path_.c_str());
}

}  // namespace muster::workers
