#include "pod_init/internal/mounting/path_in_root.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace muster::pod_init {

namespace {

// As many as the kernel follows.
constexpr int kMostLinks = 40;

class Walk {
  public:
    explicit Walk(const std::string& path) : wanted_(path) { put(path); }

    Result<PathInRoot> run() {
        UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!root) return system_error("opening the root", errno);
        at_.push_back({std::move(root), {}, true});
        while (!todo_.empty()) {
            const std::string name = std::move(todo_.back());
            todo_.pop_back();
            if (name == "..") {
                leave();
            } else if (!missing_.empty()) {
                missing_.push_back(name);
            } else {
                TRY_VOID(enter(name));
            }
        }
        return finished();
    }

  private:
    struct Step {
        UniqueFd fd;
        std::string name;
        bool is_directory;
    };

    /// The names of a path, in front of those that are still to be done.
    void put(std::string_view path) {
        while (!path.empty()) {
            const std::size_t slash = path.rfind('/');
            const std::string_view name =
                slash == std::string_view::npos ? path : path.substr(slash + 1);
            if (!name.empty() && name != ".") todo_.emplace_back(name);
            path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
        }
    }

    void leave() {
        if (!missing_.empty())
            missing_.pop_back();
        else if (at_.size() > 1)
            at_.pop_back();
    }

    Result<void> enter(const std::string& name) {
        if (!at_.back().is_directory)
            return Error(Code::kInvalid, fmt::format("the mount point {} can't be made: {} is not "
                                                     "a directory",
                                                     wanted_, existing()));
        UniqueFd next(::openat(at_.back().fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (!next && errno == ENOENT) {
            missing_.push_back(name);
            return {};
        }
        struct stat info{};
        if (!next || ::fstat(next.get(), &info) < 0)
            return system_error("looking at the mount point " + wanted_, errno);
        if (S_ISLNK(info.st_mode)) return follow(next.get(), name);
        at_.push_back({std::move(next), name, S_ISDIR(info.st_mode)});
        return {};
    }

    Result<void> follow(int link, const std::string& name) {
        if (++links_ > kMostLinks)
            return system_error("looking at the mount point " + wanted_, ELOOP);
        std::array<char, PATH_MAX> text{};
        const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
        if (size < 0) return system_error("reading a link of the mount point " + wanted_, errno);
        const std::string_view target(text.data(), static_cast<std::size_t>(size));
        if (target.starts_with('/') && is_of_proc(link)) return follow_kernel(name);
        if (target.starts_with('/')) at_.erase(at_.begin() + 1, at_.end());
        put(target);
        return {};
    }

    /// Such as /proc/1/root: the kernel doesn't follow its text, which may be that of another root.
    Result<void> follow_kernel(const std::string& name) {
        const UniqueFd there(::openat(at_.back().fd.get(), name.c_str(), O_PATH | O_CLOEXEC));
        struct stat info{};
        struct stat root{};
        const bool is_root = there && ::fstat(there.get(), &info) == 0 &&
                             ::fstat(at_.front().fd.get(), &root) == 0 &&
                             info.st_dev == root.st_dev && info.st_ino == root.st_ino;
        if (!is_root)
            return Error(Code::kInvalid,
                         fmt::format("nothing can be mounted at {}: {}/{} leads out of the root of "
                                     "the container's files, or past its mounts",
                                     wanted_, existing(), name));
        at_.erase(at_.begin() + 1, at_.end());
        return {};
    }

    std::string existing() const {
        if (at_.size() == 1) return "/";
        std::string path;
        for (std::size_t i = 1; i < at_.size(); ++i) path += "/" + at_[i].name;
        return path;
    }

    Result<PathInRoot> finished() {
        PathInRoot found;
        found.existing = existing();
        found.is_directory = at_.back().is_directory;
        found.deepest = std::move(at_.back().fd);
        found.missing = std::move(missing_);
        return found;
    }

    const std::string& wanted_;
    std::vector<std::string> todo_;  ///< the next one last
    std::vector<Step> at_;           ///< from the root down
    std::vector<std::string> missing_;
    int links_ = 0;
};

}  // namespace

bool is_of_proc(int fd) {
    struct statfs info{};
    return ::fstatfs(fd, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

std::string PathInRoot::path() const {
    std::string whole = existing;
    for (const std::string& name : missing) {
        if (!whole.ends_with('/')) whole += '/';
        whole += name;
    }
    return whole;
}

Result<PathInRoot> find_in_root(const std::string& path) { return Walk(path).run(); }

}  // namespace muster::pod_init
