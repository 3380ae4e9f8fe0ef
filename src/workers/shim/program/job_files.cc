#include "workers/shim/program/job_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace muster::workers {

namespace {

constexpr std::string_view kSocketEnding = ".sock";

/// Deeper than any folder that an agent makes there.
constexpr int kDeepest = 8;

/// Empties a directory, but for entries whose name begins with `keep`.
void remove_entries(int directory, std::string_view keep, int depth) {
    DIR* const entries = ::fdopendir(::dup(directory));
    if (entries == nullptr) return;
    ::rewinddir(entries);
    while (const dirent* entry = ::readdir(entries)) {
        const std::string_view name(entry->d_name);
        if (name == "." || name == ".." || (!keep.empty() && name.starts_with(keep))) continue;
        if (::unlinkat(directory, entry->d_name, 0) == 0 || depth == kDeepest) continue;
        const int folder =
            ::openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        remove_entries(folder, {}, depth + 1);
        ::close(folder);
        ::unlinkat(directory, entry->d_name, AT_REMOVEDIR);
    }
    ::closedir(entries);
}

/// What stays is still known as ours, so that `muster clean` finds it.
void mark(int directory) {
    const int marker =
        ::openat(directory, kJobMarker, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (marker >= 0) ::close(marker);
}

bool has_sockets(int directory) {
    DIR* const entries = ::fdopendir(::dup(directory));
    if (entries == nullptr) return false;
    ::rewinddir(entries);
    bool found = false;
    while (const dirent* entry = ::readdir(entries))
        found = found || std::string_view(entry->d_name).ends_with(kSocketEnding);
    ::closedir(entries);
    return found;
}

}  // namespace

int make_group(const ShimOrder& order) {
    if (order.group.empty()) return -1;
    if (::mkdir(order.group.c_str(), 0755) < 0 && errno != EEXIST) return -1;
    return ::open(order.group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void kill_group(int group) {
    if (group < 0) return;
    const int file = ::openat(group, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;  // before Linux 5.14
    [[maybe_unused]] const ssize_t killed = ::write(file, "1", 1);
    ::close(file);
}

void remove_group(const ShimOrder& order, int group) {
    if (group < 0) return;
    ::close(group);
    ::rmdir(order.group.c_str());
}

void remove_job_files(const ShimOrder& order) {
    const int directory = ::open(order.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    // Its own files first, so that of two shims that end together one sees that it is the last.
    ::unlinkat(directory, order.socket.c_str(), 0);
    for (const std::string& file : order.files) ::unlinkat(directory, file.c_str(), 0);
    const int record = ::openat(directory, order.record.c_str(), O_RDONLY | O_CLOEXEC);
    if (record >= 0) {
        ::flock(record, LOCK_EX);  // among shims, for this moment only
        if (::flock(directory, LOCK_EX | LOCK_NB) == 0 && !has_sockets(directory)) {
            remove_entries(directory, order.keep, 0);
            if (::rmdir(order.directory.c_str()) < 0) mark(directory);
        }
    }
    // The order matters: the next shim must find the directory unlocked, or it takes us for an
    // agent.
    ::close(directory);
    if (record >= 0) ::close(record);
}

}  // namespace muster::workers
