#include "pod_init/internal/mounting/mount_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "pod_init/internal/mounting/tmpfs.h"
#include "pod_init/internal/view_plan.h"

namespace muster::pod_init {

namespace {

/// What stands for the kernel's own files in a container (as lxcfs makes it); nothing else of
/// /proc can be replaced (upstream: runc, checkProcMount).
constexpr std::array<std::string_view, 10> kReplaceable{"/proc/cpuinfo",
                                                        "/proc/diskstats",
                                                        "/proc/meminfo",
                                                        "/proc/stat",
                                                        "/proc/swaps",
                                                        "/proc/uptime",
                                                        "/proc/loadavg",
                                                        "/proc/slabinfo",
                                                        "/proc/sys/kernel/ns_last_pid",
                                                        "/proc/sys/crypto/fips_enabled"};

Result<void> check_place(const std::string& path, const std::string& target, int tree) {
    if (path == "/")
        return Error(Code::kInvalid,
                     fmt::format("nothing can be mounted at {}, which is the root of the "
                                 "container's files: choose a directory below it",
                                 target));
    if (path == "/proc" && !is_of_proc(tree))
        return Error(Code::kInvalid, fmt::format("nothing can be mounted at {} but the machine's "
                                                 "/proc: programs need it",
                                                 target));
    // /proc/net is a link to that of a process: /proc/4711/net/dev.
    if (lies_below(path, "/proc") && std::ranges::find(kReplaceable, path) == kReplaceable.end() &&
        !path.ends_with("/net/dev"))
        return Error(
            Code::kInvalid,
            fmt::format("nothing can be mounted at {}: it is inside /proc, which is the kernel's",
                        target));
    return {};
}

Result<FileIdentity> identify(int fd) {
    struct statx info{};
    if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID | STATX_INO, &info) < 0)
        return system_error("looking at a mount", errno);
    return FileIdentity{.mount = info.stx_mnt_id,
                        .device = ::makedev(info.stx_dev_major, info.stx_dev_minor),
                        .inode = info.stx_ino,
                        .is_root = (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0};
}

Result<void> set_propagation(int mount, std::uint64_t propagation) {
    mount_attr attributes{};
    attributes.propagation = propagation;
    if (::mount_setattr(mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
        return system_error("setting how a mount is passed on", errno);
    return {};
}

Result<std::vector<std::string>> entries_of(int directory) {
    const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* stream = again < 0 ? nullptr : ::fdopendir(again);
    if (stream == nullptr) {
        const int error = errno;
        if (again >= 0) ::close(again);
        return system_error("reading a directory", error);
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(stream);
    return names;
}

Result<void> make_directory(int parent, const std::string& name) {
    if (::mkdirat(parent, name.c_str(), 0755) < 0 && errno != EEXIST)
        return system_error("making the directory " + name, errno);
    return {};
}

Result<void> make_empty_file(int parent, const std::string& name) {
    const UniqueFd file(
        ::openat(parent, name.c_str(), O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file) return system_error("making the file " + name, errno);
    return {};
}

Result<UniqueFd> make_below(UniqueFd at, const std::vector<std::string>& missing, bool directory) {
    for (std::size_t i = 0; i < missing.size(); ++i) {
        const std::string& name = missing[i];
        const bool is_file = i + 1 == missing.size() && !directory;
        if (is_file) {
            TRY_VOID(make_empty_file(at.get(), name));
        } else {
            TRY_VOID(make_directory(at.get(), name));
        }
        const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_file ? 0 : O_DIRECTORY);
        UniqueFd next(::openat(at.get(), name.c_str(), flags));
        if (!next) return system_error("opening the new mount point " + name, errno);
        at = std::move(next);
    }
    return at;
}

/// Puts the entry of `from` into `to`, under the same name.
Result<void> bring_back(int from, int to, const std::string& name) {
    struct stat info{};
    // Gone since it was listed.
    if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) return {};
    if (S_ISLNK(info.st_mode)) {
        std::array<char, PATH_MAX> text{};
        const ssize_t size = ::readlinkat(from, name.c_str(), text.data(), text.size() - 1);
        if (size < 0) return {};
        if (::symlinkat(text.data(), to, name.c_str()) < 0)
            return system_error("making the link " + name, errno);
        return {};
    }
    UniqueFd tree(
        ::open_tree(from, name.c_str(),
                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW));
    if (!tree || ::fstat(tree.get(), &info) < 0) return system_error("binding " + name, errno);
    if (S_ISLNK(info.st_mode)) return {};  // replaced since
    if (S_ISDIR(info.st_mode)) {
        TRY_VOID(make_directory(to, name));
    } else {
        TRY_VOID(make_empty_file(to, name));
    }
    if (::move_mount(tree.get(), "", to, name.c_str(), MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return system_error("binding " + name, errno);
    return {};
}

Result<void> fill(int from, int to) {
    TRY(const std::vector<std::string> names, entries_of(from));
    for (const std::string& name : names) TRY_VOID(bring_back(from, to, name));
    return {};
}

}  // namespace

Result<MountTree> MountTree::create(std::string scratch_dir) {
    MountTree tree(std::move(scratch_dir));
    TRY_VOID(tree.open_scratch());
    TRY(tree.scratch_identity_, identify(tree.scratch_.get()));
    return tree;
}

Result<void> MountTree::open_scratch() {
    TRY(PathInRoot place, find_in_root(scratch_dir_));
    if (!place.exists() || !place.is_directory)
        return Error(Code::kNotFound, fmt::format("{} is no directory", scratch_dir_));
    scratch_ = std::move(place.deepest);
    return {};
}

Result<std::string> MountTree::attach(UniqueFd tree, const std::string& target, bool owned) {
    struct stat info{};
    if (::fstat(tree.get(), &info) < 0)
        return system_error("looking at what is to be mounted at " + target, errno);
    TRY(PathInRoot place, find_in_root(target));
    std::string path = place.path();
    TRY_VOID(check_place(path, target, tree.get()));
    TRY(const UniqueFd point, mount_point(std::move(place), target, S_ISDIR(info.st_mode)));
    if (::move_mount(tree.get(), "", point.get(), "",
                     MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return system_error("mounting at " + target, errno);
    if (owned) TRY_VOID(remember(tree.get(), path));
    return path;
}

Result<UniqueFd> MountTree::mount_point(PathInRoot place, const std::string& target,
                                        bool directory) {
    if (place.exists()) {
        if (place.is_directory == directory) return std::move(place.deepest);
        return Error(
            Code::kInvalid,
            fmt::format("{} is a {} on this machine, but a {} is to be mounted there", target,
                        directory ? "file" : "directory", directory ? "directory" : "file"));
    }
    if (!place.is_directory)
        return Error(Code::kInvalid, fmt::format("the mount point {} can't be made: {} is not a "
                                                 "directory",
                                                 target, place.existing));
    TRY(const FileIdentity at, identify(place.deepest.get()));
    if (owns(at.mount)) return make_below(std::move(place.deepest), place.missing, directory);
    TRY(UniqueFd covered, cover(place));
    return make_below(std::move(covered), place.missing, directory);
}

bool MountTree::owns(std::uint64_t mount) const {
    return std::ranges::any_of(owned_,
                               [&](const Owned& owned) { return owned.root.mount == mount; });
}

Result<void> MountTree::remember(int fd, std::string path) {
    TRY(const FileIdentity root, identify(fd));
    owned_.push_back({std::move(path), root});
    return {};
}

/// Replaces what is seen at the directory by a tmpfs with the same entries, which is returned.
Result<UniqueFd> MountTree::cover(const PathInRoot& place) {
    struct stat info{};
    if (::fstat(place.deepest.get(), &info) < 0)
        return system_error("looking at " + place.existing, errno);
    TRY(UniqueFd top, new_tmpfs(fmt::format("mode=0{:o}", info.st_mode & 07777u), 0));
    if (::move_mount(top.get(), "", scratch_.get(), "",
                     MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return system_error("mounting a tmpfs for " + place.existing, errno);
    // Else binding a parent of it back would bind itself too.
    TRY_VOID(set_propagation(top.get(), MS_UNBINDABLE));
    if (::fchownat(top.get(), "", info.st_uid, info.st_gid, AT_EMPTY_PATH) < 0) {
        // A file system that maps no owners: the entries keep theirs all the same.
    }
    if (auto filled = fill(place.deepest.get(), top.get()); !filled) {
        Error error = std::move(filled.error());
        return error.prefix("covering " + place.existing);
    }
    TRY_VOID(set_propagation(top.get(), MS_PRIVATE));
    if (place.existing == "/") {
        TRY_VOID(enter_new_root(top.get()));
    } else if (::move_mount(top.get(), "", place.deepest.get(), "",
                            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0) {
        return system_error("covering " + place.existing, errno);
    }
    find_owned_again(place.existing);
    TRY_VOID(remember(top.get(), place.existing));
    return top;
}

Result<void> MountTree::enter_new_root(int top) {
    if (::fchdir(top) < 0) return system_error("entering a new root", errno);
    if (::syscall(SYS_pivot_root, ".", ".") < 0)
        return system_error("changing to a new root", errno);
    if (::umount2(".", MNT_DETACH) < 0) return system_error("leaving the old root", errno);
    if (::chdir("/") < 0) return system_error("entering /", errno);
    // The old one has left with the old root; nothing that a volume has in its place is it.
    TRY_VOID(open_scratch());
    TRY(const FileIdentity found, identify(scratch_.get()));
    if (!found.is_same_file(scratch_identity_))
        return Error(Code::kInvalid, fmt::format("a mount hides {}", scratch_dir_));
    return {};
}

/// What was brought back is seen through new mounts, and the ids of the old ones may be given to
/// others.
void MountTree::find_owned_again(const std::string& below) {
    std::erase_if(owned_, [&](Owned& owned) {
        if (!lies_below(owned.path, below)) return owned.path == below;
        const auto place = find_in_root(owned.path);
        if (!place || !place->exists()) return true;
        const auto found = identify(place->deepest.get());
        if (!found || !found->is_root || !found->is_same_file(owned.root)) return true;
        owned.root = *found;
        return false;
    });
}

}  // namespace muster::pod_init
