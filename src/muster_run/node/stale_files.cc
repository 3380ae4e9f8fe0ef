#include "muster_run/node/stale_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"
#include "muster_run/node/node_resources.h"
#include "workers/shim/order.h"

namespace muster::run {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kRandomLetters = 6;  ///< mkdtemp's

bool is_random(std::string_view text) {
    return text.size() == kRandomLetters && std::ranges::all_of(text, [](char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                      (letter >= 'A' && letter <= 'Z');
           });
}

bool is_job_directory(std::string_view name) {
    const std::string prefix = fmt::format("muster-{}-", ::geteuid());
    if (!name.starts_with(prefix)) return false;
    name.remove_prefix(prefix.size());
    if (name.size() < kHashDigits + 1 || name[kHashDigits] != '-') return false;
    const std::string_view hash = name.substr(0, kHashDigits);
    return hash.find_first_not_of("0123456789abcdef") == hash.npos &&
           is_random(name.substr(kHashDigits + 1));
}

bool is_error_directory(std::string_view name) {
    const std::size_t last = name.rfind('_');
    return name.starts_with("muster_") && last > std::string_view("muster_").size() &&
           is_random(name.substr(last + 1));
}

/// Its directory if this user has it alone and no agent does.
UniqueFd claim(const fs::path& path) {
    UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!directory || ::fstat(directory.get(), &info) < 0 || info.st_uid != ::geteuid() ||
        (info.st_mode & 077) != 0 || ::flock(directory.get(), LOCK_EX | LOCK_NB) < 0)
        return UniqueFd();
    return directory;
}

bool has_marker(int directory) {
    struct stat info{};
    return ::fstatat(directory, workers::kJobMarker, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
}

/// Never, if there is no such entry.
WallTime changed_at(int directory, const char* entry) {
    struct stat info{};
    if (::fstatat(directory, entry, &info, AT_SYMLINK_NOFOLLOW) < 0) return WallTime::min();
    return WallTime(std::chrono::seconds(info.st_mtim.tv_sec) +
                    std::chrono::nanoseconds(info.st_mtim.tv_nsec));
}

/// Whether a worker's shim listens at a socket. It is not disturbed: the kernel refuses a connection
/// of another type where there is a listener, and for another reason where there is none.
bool has_listener(int directory, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, name);
    if (path.size() >= sizeof address.sun_path) return true;  // none of ours; then it stays
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const UniqueFd probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return !probe ||
           ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
               0 ||
           errno != ECONNREFUSED;
}

bool is_stale_job(int directory, const fs::path& path, WallTime now) {
    bool empty = true;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        empty = false;
        if (at->is_socket(error) && has_listener(directory, at->path().filename())) return false;
    }
    if (error || (!empty && !has_marker(directory))) return false;
    const WallTime record = changed_at(directory, kMasterRecord);
    // The end of its workers changes the directory.
    return record == WallTime::min() ||
           std::max(record, changed_at(directory, ".")) <= now - kRecordStays;
}

bool is_stale_error_directory(int directory, WallTime now) {
    return has_marker(directory) && changed_at(directory, ".") <= now - kErrorFilesStay;
}

}  // namespace

Result<std::vector<std::string>> remove_stale_files(const fs::path& temporary, WallTime now) {
    std::vector<std::string> removed;
    std::error_code error;
    for (fs::directory_iterator at(temporary, error), end; !error && at != end;
         at.increment(error)) {
        const fs::path& path = at->path();
        const bool of_job = is_job_directory(path.filename().native());
        if (!of_job && !is_error_directory(path.filename().native())) continue;
        const UniqueFd claimed = claim(path);
        if (!claimed || !(of_job ? is_stale_job(claimed.get(), path, now)
                                 : is_stale_error_directory(claimed.get(), now)))
            continue;
        std::error_code failed;
        fs::remove_all(path, failed);
        if (failed) return system_error("removing " + path.string(), failed.value());
        removed.push_back(path);
    }
    if (error) return system_error("reading " + temporary.string(), error.value());
    return removed;
}

}  // namespace muster::run
