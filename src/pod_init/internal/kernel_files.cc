#include "pod_init/internal/kernel_files.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text_files.h"
#include "base/unique_fd.h"
#include "pod_init/internal/view_plan.h"

namespace muster::pod_init {

namespace {

int write_text(const std::string& path, const std::string& text) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), text.data(), text.size()) < 0) return errno;
    return 0;
}

/// The errno, or 0 if it is read-only now.
int try_freeze(const char* path, unsigned flags) {
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    return ::mount_setattr(AT_FDCWD, path, flags, &attributes, sizeof attributes) < 0 ? errno : 0;
}

Error not_frozen(const std::string& path, int error) {
    return system_error(fmt::format("making {} read-only", path), error);
}

Result<void> freeze(const char* path, unsigned flags) {
    if (const int error = try_freeze(path, flags); error != 0) return not_frozen(path, error);
    return {};
}

}  // namespace

Result<void> set_sysctls(const std::vector<std::pair<std::string, std::string>>& sysctls) {
    for (const auto& [name, value] : sysctls) {
        std::string path = name;
        std::ranges::replace(path, '.', '/');
        if (const int error = write_text("/proc/sys/" + path, value); error != 0)
            return system_error(fmt::format("setting the sysctl {} to {}", name, value), error);
    }
    return {};
}

bool limit_pids(std::uint64_t pids) {
    return write_text("/proc/sys/kernel/pid_max", std::to_string(pids)) == 0;
}

Result<void> mount_own_sys() {
    constexpr const char* kGroups = "/sys/fs/cgroup";
    if (::access("/sys/class/net", F_OK) < 0) return {};
    const UniqueFd groups(
        ::open_tree(AT_FDCWD, kGroups, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
    constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (::mount("sysfs", "/sys", "sysfs", kFlags, nullptr) < 0 &&
        ::mount("sysfs", "/sys", "sysfs", kFlags | MS_RDONLY, nullptr) < 0) {
        if (errno == EPERM || errno == EACCES) return {};
        return system_error("mounting the pod's /sys", errno);
    }
    if (groups && ::move_mount(groups.get(), "", AT_FDCWD, kGroups, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return system_error("mounting the cgroups in the pod's /sys", errno);
    return {};
}

Result<void> protect_kernel_files() {
    for (const char* path :
         {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}) {
        if (::mount(path, path, nullptr, MS_BIND, nullptr) < 0) {
            if (errno == ENOENT) continue;
            return system_error(fmt::format("mounting {}", path), errno);
        }
        TRY_VOID(freeze(path, 0));
    }
    for (const char* path : {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/latency_stats",
                             "/proc/sched_debug"})
        if (::mount("/dev/null", path, nullptr, MS_BIND, nullptr) < 0 && errno != ENOENT)
            return system_error(fmt::format("hiding {}", path), errno);
    if (::access("/sys", F_OK) == 0) return freeze("/sys", AT_RECURSIVE);
    return {};
}

Result<void> freeze_mounts(const std::vector<std::string>& writable) {
    TRY(const std::string table, read_text("/proc/self/mountinfo"));
    for (const process::MountEntry& mount : process::parse_mount_table(table)) {
        const std::string& path = mount.path;
        auto covers = [&](const std::string& free) {
            return path == free || lies_below(path, free);
        };
        if (covers("/proc") || covers("/dev") || std::ranges::any_of(writable, covers)) continue;
        const int error = try_freeze(path.c_str(), 0);
        // A path hidden by another mount is not visible to anyone: it does not exist, or is a
        // directory of the hiding mount and not a mount point (the machine's /sys/kernel/tracing
        // below the pod's own /sys). A path in a directory that we may not enter is closed to the
        // container as well.
        const bool hidden = error == ENOENT || error == EINVAL;
        const bool closed = (error == EACCES || error == EPERM) && ::geteuid() != 0;
        if (error != 0 && !hidden && !closed) return not_frozen(path, error);
    }
    return {};
}

}  // namespace muster::pod_init
