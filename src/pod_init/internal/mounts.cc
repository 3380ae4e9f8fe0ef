#include "pod_init/internal/mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>

#include "pod_init/internal/kernel_files.h"
#include "pod_init/internal/pod_devices.h"
#include "pod_init/internal/private_view.h"

namespace muster::pod_init {

namespace {

bool is_directory(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string join(const std::string& directory, std::string_view name) {
    std::string path = directory == "/" ? "" : directory;
    path += '/';
    path += name;
    return path;
}

std::string parent_of(const std::string& path) {
    std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// The path with its links resolved; unchanged if that fails.
std::string resolved(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    if (real == nullptr) return path;
    std::string result(real);
    std::free(real);
    return result;
}

Result<void> make_directory(const std::string& path, mode_t mode) {
    if (::mkdir(path.c_str(), mode) < 0 && errno != EEXIST)
        return system_error("making the directory " + path, errno);
    return {};
}

Result<void> make_empty_file(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0644));
    if (!file) return system_error("making the file " + path, errno);
    return {};
}

Result<std::vector<std::string>> entries_of(const std::string& directory) {
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) return system_error("reading the directory " + directory, errno);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
        std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(stream);
    return names;
}

/// Binds the entry of the machine below `to` under the same name.
Result<void> bring_back(const std::string& from, const std::string& to) {
    struct stat info{};
    if (::lstat(from.c_str(), &info) < 0) return {};  // gone since it was listed
    if (S_ISLNK(info.st_mode)) {
        char target[PATH_MAX];
        ssize_t size = ::readlink(from.c_str(), target, sizeof target - 1);
        if (size < 0) return {};
        target[size] = '\0';
        if (::symlink(target, to.c_str()) < 0) return system_error("making the link " + to, errno);
        return {};
    }
    if (S_ISDIR(info.st_mode)) {
        TRY_VOID(make_directory(to, 0755));
    } else {
        TRY_VOID(make_empty_file(to));
    }
    if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) < 0)
        return system_error("binding " + from + " to " + to, errno);
    return {};
}

/// The mount tree of one container as it is assembled: knows which directories belong to the pod,
/// by the longest prefix.
class Tree {
  public:
    explicit Tree(std::string scratch_dir) : scratch_dir_(std::move(scratch_dir)) {}

    Result<void> make_mount_point(const std::string& target, bool directory) {
        struct stat info{};
        if (::stat(target.c_str(), &info) == 0) {
            if (S_ISDIR(info.st_mode) == directory) return {};
            return Error(
                Code::kInvalid,
                fmt::format("{} is a {} on this machine, but a {} is to be mounted there", target,
                            directory ? "file" : "directory", directory ? "directory" : "file"));
        }
        if (errno != ENOENT) return system_error("looking at the mount point " + target, errno);
        std::string existing = parent_of(target);
        std::string missing = target.substr(existing == "/" ? 1 : existing.size() + 1);
        while (!is_directory(existing)) {
            if (::access(existing.c_str(), F_OK) == 0)
                return Error(Code::kInvalid, fmt::format("the mount point {} can't be made: {} is "
                                                         "not a directory",
                                                         target, existing));
            existing = parent_of(existing);
            missing = target.substr(existing == "/" ? 1 : existing.size() + 1);
        }
        existing = resolved(existing);
        if (!owned(existing)) TRY_VOID(cover(existing));
        return make_below(existing, missing, directory);
    }

    void add(const std::string& target, bool owned) { owned_[resolved(target)] = owned; }

  private:
    bool owned(const std::string& path) const {
        for (std::string at = path;; at = parent_of(at)) {
            if (auto it = owned_.find(at); it != owned_.end()) return it->second;
            if (at == "/") return false;
        }
    }

    static Result<void> make_below(std::string path, std::string_view missing, bool directory) {
        while (!missing.empty()) {
            std::size_t slash = missing.find('/');
            path = join(path, missing.substr(0, slash));
            const bool last = slash == std::string_view::npos;
            if (last && !directory) return make_empty_file(path);
            TRY_VOID(make_directory(path, 0755));
            missing = last ? std::string_view() : missing.substr(slash + 1);
        }
        return {};
    }

    /// Covers `directory` by a tmpfs with the same entries.
    Result<void> cover(const std::string& directory) {
        struct stat info{};
        if (::stat(directory.c_str(), &info) < 0)
            return system_error("looking at " + directory, errno);
        const std::string mode = fmt::format("mode=0{:o}", info.st_mode & 07777u);
        if (::mount("tmpfs", scratch_dir_.c_str(), "tmpfs", 0, mode.c_str()) < 0)
            return system_error("mounting a tmpfs for " + directory, errno);
        // Otherwise binding one of its parents back would bind it too.
        if (::mount(nullptr, scratch_dir_.c_str(), nullptr, MS_UNBINDABLE, nullptr) < 0)
            return system_error("making a mount unbindable", errno);
        if (::chown(scratch_dir_.c_str(), info.st_uid, info.st_gid) < 0) {
            // A file system without owners: the entries keep theirs all the same.
        }
        TRY(std::vector<std::string> names, entries_of(directory));
        for (const std::string& name : names) {
            TRY_VOID(bring_back(join(directory, name), join(scratch_dir_, name)));
            owned_[join(directory, name)] = false;
        }
        owned_[directory] = true;
        if (::mount(nullptr, scratch_dir_.c_str(), nullptr, MS_PRIVATE, nullptr) < 0)
            return system_error("making a mount private", errno);
        if (directory == "/") return enter_new_root();
        if (::mount(scratch_dir_.c_str(), directory.c_str(), nullptr, MS_MOVE, nullptr) < 0)
            return system_error("covering " + directory, errno);
        return {};
    }

    Result<void> enter_new_root() {
        if (::chdir(scratch_dir_.c_str()) < 0) return system_error("entering a new root", errno);
        if (::syscall(SYS_pivot_root, ".", ".") < 0)
            return system_error("changing to a new root", errno);
        if (::umount2(".", MNT_DETACH) < 0) return system_error("leaving the old root", errno);
        if (::chdir("/") < 0) return system_error("entering /", errno);
        return {};
    }

    std::string scratch_dir_;
    std::map<std::string, bool> owned_;
};

/// The path below the directory `top`, created if it is missing, with the mode of `top`; a link
/// that leads out of `top` is refused.
Result<UniqueFd> open_inside(int top, const std::string& path) {
    struct stat info{};
    if (::fstat(top, &info) < 0) return system_error("looking at a volume", errno);
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    auto open = [&](const std::string& part) {
        return UniqueFd(
            static_cast<int>(::syscall(SYS_openat2, top, part.c_str(), &how, sizeof how)));
    };
    std::string parent = ".";
    for (std::size_t end = 0; end != path.npos;) {
        end = path.find('/', end + 1);
        const std::string part = path.substr(0, end);
        UniqueFd at = open(part);
        if (!at && errno == ENOENT) {
            const UniqueFd directory = open(parent);
            const std::string name = part.substr(part.rfind('/') + 1);
            if (!directory || ::mkdirat(directory.get(), name.c_str(), 0700) < 0 ||
                ::fchmodat(directory.get(), name.c_str(), info.st_mode & 07777u, 0) < 0)
                return system_error("making the subPath " + part, errno);
            at = open(part);
        }
        if (!at) return system_error("opening the subPath " + part, errno);
        if (end == path.npos) return at;
        parent = part;
    }
    return Error(Code::kInternal, "a subPath has no end");
}

/// A detached copy of the source to mount.
Result<UniqueFd> take_source(const MountSpec& mount) {
    constexpr unsigned kClone = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
    UniqueFd tree;
    if (mount.sub_path.empty()) {
        tree.reset(::open_tree(AT_FDCWD, mount.source.c_str(), kClone));
    } else {
        const UniqueFd top(::open(mount.source.c_str(), O_PATH | O_CLOEXEC));
        if (!top) return system_error("opening " + mount.source, errno);
        TRY(const UniqueFd inside, open_inside(top.get(), mount.sub_path));
        tree.reset(::open_tree(inside.get(), "", kClone | AT_EMPTY_PATH));
    }
    if (!tree)
        return system_error(fmt::format("taking {} to mount it at {}", mount.source, mount.target),
                            errno);
    return tree;
}

Result<void> mount_tmpfs(const MountSpec& mount) {
    if (::mount("tmpfs", mount.target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                mount.options.c_str()) < 0)
        return system_error("mounting a tmpfs at " + mount.target, errno);
    return {};
}

}  // namespace

Result<void> set_up_pod_mounts(const std::vector<MountSpec>& mounts, const PrivateFiles& files) {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0)
        return system_error("making the pod's mounts private", errno);
    TRY_VOID(set_up_private_files(files));
    if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) < 0)
        return system_error("mounting the pod's /proc", errno);
    TRY_VOID(mount_own_sys());
    TRY_VOID(set_up_pod_devices());
    if (is_directory("/dev/shm") &&
        ::mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
        return system_error("mounting the pod's /dev/shm", errno);
    for (const MountSpec& mount : mounts) TRY_VOID(mount_tmpfs(mount));
    return {};
}

namespace {

bool is_at_or_below(const std::string& path, const std::string& directory) {
    return path == directory || path.starts_with(join(directory, ""));
}

/// The order of mounting: as given, but anything that hides the scratch directory, and mounts below
/// that, come last, as missing mount points are made through it.
std::vector<std::size_t> mount_order(const std::vector<MountSpec>& mounts,
                                     const std::string& scratch_dir) {
    const auto is_last = [&](const MountSpec& mount) {
        return std::ranges::any_of(mounts, [&](const MountSpec& hiding) {
            return is_at_or_below(scratch_dir, hiding.target) &&
                   is_at_or_below(mount.target, hiding.target);
        });
    };
    std::vector<std::size_t> order;
    for (const bool last : {false, true})
        for (std::size_t i = 0; i < mounts.size(); ++i)
            if (is_last(mounts[i]) == last) order.push_back(i);
    return order;
}

}  // namespace

Result<void> set_up_container_mounts(const std::vector<MountSpec>& mounts,
                                     const std::string& scratch_dir, bool read_only_root) {
    std::vector<UniqueFd> sources(mounts.size());
    for (std::size_t i = 0; i < mounts.size(); ++i)
        if (mounts[i].kind == MountSpec::Kind::kBind) {
            TRY(sources[i], take_source(mounts[i]));
        }
    Tree tree(scratch_dir);
    for (const std::size_t i : mount_order(mounts, scratch_dir)) {
        const MountSpec& mount = mounts[i];
        if (mount.kind == MountSpec::Kind::kTmpfs) {
            TRY_VOID(tree.make_mount_point(mount.target, true));
            TRY_VOID(mount_tmpfs(mount));
            tree.add(mount.target, true);
            continue;
        }
        struct stat info{};
        if (::fstat(sources[i].get(), &info) < 0)
            return system_error("looking at " + mount.source, errno);
        TRY_VOID(tree.make_mount_point(mount.target, S_ISDIR(info.st_mode)));
        if (mount.read_only) {
            mount_attr read_only{};
            read_only.attr_set = MOUNT_ATTR_RDONLY;
            if (::mount_setattr(sources[i].get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only,
                                sizeof read_only) < 0)
                return system_error("making the mount at " + mount.target + " read-only", errno);
        }
        if (::move_mount(sources[i].get(), "", AT_FDCWD, mount.target.c_str(),
                         MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS) < 0)
            return system_error(fmt::format("mounting {} at {}", mount.source, mount.target),
                                errno);
        tree.add(mount.target, mount.owned);
    }
    if (!read_only_root) return {};
    std::vector<std::string> writable;
    for (const MountSpec& mount : mounts)
        if (!mount.read_only) writable.push_back(resolved(mount.target));
    return freeze_mounts(writable);
}

}  // namespace muster::pod_init
