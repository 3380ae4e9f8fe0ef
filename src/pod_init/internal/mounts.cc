#include "pod_init/internal/mounts.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "pod_init/internal/kernel_files.h"
#include "pod_init/internal/mounting/mount_tree.h"
#include "pod_init/internal/mounting/tmpfs.h"
#include "pod_init/internal/pod_devices.h"
#include "pod_init/internal/private_view.h"
#include "pod_init/internal/view_plan.h"

namespace muster::pod_init {

namespace {

bool is_directory(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// With the whole mode from the start: who writes to the volume may put a link in its place at
/// any time. A directory in one that gives its group to what is in it does so itself.
bool make_with_mode(int parent, const std::string& name, mode_t mode) {
    const mode_t before = ::umask(0);
    const bool made = ::mkdirat(parent, name.c_str(), mode) == 0;
    ::umask(before);
    return made;
}

/// The path below the directory `top`, made where it is missing, with the mode of `top`; a link
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
            if (!directory || !make_with_mode(directory.get(), name, info.st_mode & 01777u))
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
    return path == directory || lies_below(path, directory);
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

Result<void> make_read_only(int tree, const std::string& target) {
    mount_attr read_only{};
    read_only.attr_set = MOUNT_ATTR_RDONLY;
    if (::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only, sizeof read_only) < 0)
        return system_error("making the mount at " + target + " read-only", errno);
    return {};
}

}  // namespace

Result<void> set_up_container_mounts(const std::vector<MountSpec>& mounts,
                                     const std::string& scratch_dir, bool read_only_root) {
    std::vector<UniqueFd> sources(mounts.size());
    for (std::size_t i = 0; i < mounts.size(); ++i) {
        if (mounts[i].kind == MountSpec::Kind::kBind) {
            TRY(sources[i], take_source(mounts[i]));
        } else {
            TRY(sources[i], new_tmpfs(mounts[i].options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
        }
    }
    TRY(MountTree tree, MountTree::create(scratch_dir));
    std::vector<std::string> writable;
    for (const std::size_t i : mount_order(mounts, scratch_dir)) {
        const MountSpec& mount = mounts[i];
        if (mount.read_only) TRY_VOID(make_read_only(sources[i].get(), mount.target));
        const bool owned = mount.owned || mount.kind == MountSpec::Kind::kTmpfs;
        auto path = tree.attach(std::move(sources[i]), mount.target, owned);
        if (!path) return path.error();
        if (!mount.read_only) writable.push_back(*std::move(path));
    }
    if (!read_only_root) return {};
    return freeze_mounts(writable);
}

}  // namespace muster::pod_init
