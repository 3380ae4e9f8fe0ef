#include "pod_init/internal/private_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <map>
#include <memory>

#include "base/text_files.h"
#include "base/unique_fd.h"
#include "pod_init/internal/view_plan.h"

namespace muster::pod_init {

namespace {

using How = ViewPoint::How;

Result<void> make_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0755) < 0 && errno != EEXIST)
        return system_error("making the directory " + path, errno);
    return {};
}

/// Commas, colons and backslashes have a meaning in the options of an overlay.
std::string escaped(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (c == ',' || c == ':' || c == '\\') text += '\\';
        text += c;
    }
    return text;
}

class View {
  public:
    View(const PrivateFiles& files, std::vector<ViewPoint> points)
        : files_(files), points_(std::move(points)), root_(files.scratch + "/root") {}

    Result<void> make() {
        // Before the view exists, which would be part of what is shared.
        for (const ViewPoint& point : points_)
            if (point.how != How::kOverlay && ::access(point.path.c_str(), F_OK) == 0) {
                TRY(taken_[point.path], take(point.path));
            }
        TRY_VOID(make_store());
        if (files_.scope == PrivateFiles::Scope::kDirectory) {
            if (auto done = overlay(files_.directory, files_.directory); !done) {
                Error error = std::move(done.error());
                return error.prefix(
                    "the working directory can't be made the pod's own; choose one below which "
                    "nothing is mounted (--workdir DIR is shared)");
            }
            return {};
        }
        TRY_VOID(make_directory(root_));
        if (::mount(root_.c_str(), root_.c_str(), nullptr, MS_BIND, nullptr) < 0)
            return system_error("mounting a private root", errno);
        TRY_VOID(place("/", root_));
        return enter();
    }

  private:
    Result<void> make_store() {
        const std::string size =
            files_.store.empty() ? fmt::format("mode=0755,size={}", files_.bytes) : "mode=0755";
        if (::mount("files", files_.scratch.c_str(), "tmpfs", 0, size.c_str()) < 0)
            return system_error("mounting a tmpfs for private files", errno);
        store_ = files_.store.empty() ? files_.scratch + "/written" : files_.store;
        TRY_VOID(make_directory(store_));
        return make_directory(store_ + "/.work");
    }

    /// Mounts `from` copy-on-write at `to`.
    Result<void> overlay(const std::string& from, const std::string& to) {
        // "/home/ada" is kept as "home+ada", and "/" as "root".
        std::string name = from == "/" ? "root" : from.substr(1);
        std::ranges::replace(name, '/', '+');
        const std::string upper = store_ + "/" + name;
        const std::string work = store_ + "/.work/" + name;
        struct stat info{};
        if (::stat(from.c_str(), &info) < 0) return system_error("looking at " + from, errno);
        TRY_VOID(make_directory(upper));
        TRY_VOID(make_directory(work));
        // The directory itself looks like the machine's.
        if (::chmod(upper.c_str(), info.st_mode & 07777u) < 0)
            return system_error("setting the mode of " + upper, errno);
        if (::chown(upper.c_str(), info.st_uid, info.st_gid) < 0) {
            // In a user namespace only our own ids can be given.
        }
        const std::string options =
            fmt::format("lowerdir={},upperdir={},workdir={}{}", escaped(from), escaped(upper),
                        escaped(work), ::geteuid() == 0 ? "" : ",userxattr");
        if (::mount("files", to.c_str(), "overlay", 0, options.c_str()) == 0) return {};
        const int error = errno;
        ::rmdir(upper.c_str());
        return system_error("putting a private view over " + from, error);
    }

    const ViewPoint* point_at(const std::string& path) const {
        const auto found = std::ranges::find(points_, path, &ViewPoint::path);
        return found == points_.end() ? nullptr : &*found;
    }
    bool has_points_below(const std::string& path) const {
        return std::ranges::any_of(
            points_, [&](const ViewPoint& point) { return lies_below(point.path, path); });
    }
    std::string placed(const std::string& path) const { return path == "/" ? root_ : root_ + path; }

    /// Places the directory `from`, which is not a point of another type, at `to`, which exists.
    Result<void> place(const std::string& from, const std::string& to) {
        auto done = overlay(from, to);
        if (!done) {
            if (!has_points_below(from)) return share(from, to, true);
            return compose(from, to);
        }
        return place_points_below(from);
    }

    /// Places the points that are not below another one below `from`: each handles its own in the
    /// same way.
    Result<void> place_points_below(const std::string& from) {
        for (const ViewPoint& point : points_) {
            if (!lies_below(point.path, from)) continue;
            const bool deeper = std::ranges::any_of(points_, [&](const ViewPoint& other) {
                return lies_below(other.path, from) && lies_below(point.path, other.path);
            });
            if (!deeper) TRY_VOID(place_point(point));
        }
        return {};
    }

    Result<void> place_point(const ViewPoint& point) {
        struct stat info{};
        // Hidden by another mount, or not accessible to us.
        if (::stat(point.path.c_str(), &info) < 0) return {};
        if (point.how == How::kOverlay && S_ISDIR(info.st_mode))
            return place(point.path, placed(point.path));
        TRY_VOID(share(point.path, placed(point.path), point.how != How::kShare));
        return place_points_below(point.path);
    }

    static Result<UniqueFd> take(const std::string& path) {
        UniqueFd tree(::open_tree(AT_FDCWD, path.c_str(),
                                  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
        if (!tree) return system_error("taking " + path, errno);
        return tree;
    }

    Result<void> share(const std::string& from, const std::string& to, bool read_only) {
        UniqueFd tree = std::move(taken_[from]);
        if (!tree) {
            TRY(tree, take(from));
        }
        if (read_only) {
            mount_attr attributes{};
            attributes.attr_set = MOUNT_ATTR_RDONLY;
            if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                                sizeof attributes) < 0)
                return system_error("making " + from + " read-only", errno);
        }
        if (::move_mount(tree.get(), "", AT_FDCWD, to.c_str(), MOVE_MOUNT_F_EMPTY_PATH) < 0)
            return system_error(fmt::format("mounting {} at {}", from, to), errno);
        return {};
    }

    /// Makes the directory as a new one, with each entry placed separately.
    Result<void> compose(const std::string& from, const std::string& to) {
        const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(from.c_str()), ::closedir);
        if (directory == nullptr) return system_error("reading the directory " + from, errno);
        while (const dirent* entry = ::readdir(directory.get())) {
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..") continue;
            const std::string source = fmt::format("{}/{}", from == "/" ? "" : from, name);
            const std::string target = fmt::format("{}/{}", to, name);
            TRY_VOID(place_entry(source, target));
        }
        return {};
    }

    Result<void> place_entry(const std::string& source, const std::string& target) {
        struct stat info{};
        if (::lstat(source.c_str(), &info) < 0) return {};
        if (S_ISLNK(info.st_mode)) {
            std::array<char, PATH_MAX> link{};
            const ssize_t size = ::readlink(source.c_str(), link.data(), link.size() - 1);
            if (size > 0 && ::symlink(link.data(), target.c_str()) < 0)
                return system_error("making the link " + target, errno);
            return {};
        }
        if (!S_ISDIR(info.st_mode)) {
            const UniqueFd file(::open(target.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0644));
            if (!file) return system_error("making the file " + target, errno);
            const ViewPoint* point = point_at(source);
            return share(source, target, point == nullptr || point->how != How::kShare);
        }
        TRY_VOID(make_directory(target));
        if (::chmod(target.c_str(), info.st_mode & 07777u) < 0)
            return system_error("setting the mode of " + target, errno);
        const ViewPoint* point = point_at(source);
        if (point != nullptr) return place_point(*point);
        // A directory that we may not read is closed to the pod as well.
        if (::access(source.c_str(), R_OK | X_OK) < 0) return {};
        return place(source, target);
    }

    Result<void> enter() {
        if (::chdir(root_.c_str()) < 0) return system_error("entering a private root", errno);
        if (::syscall(SYS_pivot_root, ".", ".") < 0)
            return system_error("changing to a private root", errno);
        if (::umount2(".", MNT_DETACH) < 0) return system_error("leaving the old root", errno);
        if (::chdir("/") < 0) return system_error("entering /", errno);
        return {};
    }

    const PrivateFiles& files_;
    std::vector<ViewPoint> points_;
    std::string root_;
    std::string store_;
    std::map<std::string, UniqueFd> taken_;
};

}  // namespace

Result<void> set_up_private_files(const PrivateFiles& files) {
    if (files.scope == PrivateFiles::Scope::kNone) return {};
    std::vector<ViewPoint> points;
    if (files.scope == PrivateFiles::Scope::kMachine) {
        TRY(const std::string table, read_text("/proc/self/mountinfo"));
        std::vector<process::MountEntry> mounts = process::parse_mount_table(table);
        // An ordinary user's overlay can't copy up a directory of another user when something in it
        // changes, but it may begin with one; this is the one in which everyone writes.
        if (::geteuid() != 0) mounts.push_back({.path = "/var/tmp", .type = {}});
        points = plan_private_view(mounts, files.kept);
    }
    return View(files, std::move(points)).make();
}

}  // namespace muster::pod_init
