#include "pod_init/internal/pod_devices.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace muster::pod_init {

namespace {

/// Devices for administration of the machine, and those of which the pod gets its own. Each entry
/// that is bound costs 15 us.
constexpr std::array<std::string_view, 24> kOfTheMachine{"autofs",
                                                         "btrfs-control",
                                                         "console",
                                                         "cpu_dma_latency",
                                                         "hpet",
                                                         "hwrng",
                                                         "kmem",
                                                         "kmsg",
                                                         "log",
                                                         "loop-control",
                                                         "mcelog",
                                                         "mem",
                                                         "mqueue",
                                                         "nvram",
                                                         "port",
                                                         "ptmx",
                                                         "pts",
                                                         "rfkill",
                                                         "snapshot",
                                                         "uhid",
                                                         "uinput",
                                                         "vga_arbiter",
                                                         "termination-log",
                                                         "watchdog"};

bool is_numbered(std::string_view name, std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix) &&
           name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

Error failed(std::string_view doing, const std::string& name) {
    return system_error(fmt::format("{} /dev/{} for the pod", doing, name), errno);
}

Result<void> make_link(int from, const std::string& name, const std::string& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(from, name.c_str(), target.data(), target.size() - 1);
    if (size < 0) return {};  // gone since it was listed
    if (::symlink(target.data(), path.c_str()) < 0) return failed("making the link", name);
    return {};
}

Result<void> make_file(const std::string& path, mode_t mode) {
    UniqueFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, mode));
    if (!file) return system_error("making " + path + " for the pod", errno);
    return {};
}

/// Makes the same device again, which costs a third of a mount; root may do so, but in no user
/// namespace.
bool make_device(const std::string& path, const struct stat& info) {
    if (::mknod(path.c_str(), info.st_mode, info.st_rdev) < 0) return false;
    if (::chmod(path.c_str(), info.st_mode & 07777) == 0 &&
        ::chown(path.c_str(), info.st_uid, info.st_gid) == 0)
        return true;
    ::unlink(path.c_str());
    return false;
}

/// Brings one entry of the machine's /dev under the same name.
Result<void> bring_device(int from, const std::string& name) {
    struct stat info{};
    if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) return {};  // gone
    if (S_ISBLK(info.st_mode)) return {};  // where a directory does not tell kinds
    const std::string path = "/dev/" + name;
    if (S_ISLNK(info.st_mode)) return make_link(from, name, path);
    if (S_ISDIR(info.st_mode)) {
        if (::mkdir(path.c_str(), 0755) < 0) return failed("making the directory", name);
        if (name == "shm") return {};
    } else if (S_ISCHR(info.st_mode) && make_device(path, info)) {
        return {};
    } else {
        TRY_VOID(make_file(path, 0600));
    }
    const std::string source = fmt::format("/proc/self/fd/{}/{}", from, name);
    if (::mount(source.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) < 0)
        return failed("binding", name);
    return {};
}

/// A terminal multiplexer finds its terminals next to itself; a bound one does not.
Result<void> make_terminals() {
    if (::mkdir("/dev/pts", 0755) < 0) return failed("making the directory", "pts");
    if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                "newinstance,ptmxmode=0666,mode=0620") < 0)
        return failed("mounting", "pts");
    if (::symlink("pts/ptmx", "/dev/ptmx") < 0) return failed("making the link", "ptmx");
    return {};
}

/// They belong to the pod's IPC namespace.
Result<void> make_message_queues() {
    if (::mkdir("/dev/mqueue", 0755) < 0) return failed("making the directory", "mqueue");
    if (::mount("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) < 0 &&
        errno != ENODEV)
        return failed("mounting", "mqueue");
    return {};
}

/// The entries that a pod sees.
Result<std::vector<std::string>> entries(int directory) {
    UniqueFd again(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR* stream = again ? ::fdopendir(again.get()) : nullptr;
    if (stream == nullptr) return system_error("reading the machine's /dev", errno);
    (void)again.release();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != ".." && pod_sees_device(name, entry->d_type == DT_BLK))
            names.emplace_back(name);
    }
    ::closedir(stream);
    return names;
}

}  // namespace

bool pod_sees_device(std::string_view name, bool is_block) {
    if (is_block || std::ranges::find(kOfTheMachine, name) != kOfTheMachine.end()) return false;
    return !is_numbered(name, "tty") && !is_numbered(name, "ttyS") && !is_numbered(name, "rtc") &&
           !is_numbered(name, "watchdog") && !name.starts_with("vcs");
}

Result<void> set_up_pod_devices() {
    UniqueFd machine(::open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!machine) return system_error("opening the machine's /dev", errno);
    TRY(const std::vector<std::string> names, entries(machine.get()));
    if (::mount("dev", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k") < 0)
        return system_error("mounting the pod's /dev", errno);
    for (const std::string& name : names) TRY_VOID(bring_device(machine.get(), name));
    TRY_VOID(make_terminals());
    TRY_VOID(make_message_queues());
    return make_file("/dev/termination-log", 0666);
}

}  // namespace muster::pod_init
