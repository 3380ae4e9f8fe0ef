#include "runtime/internal/limits/cgroup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/text_files.h"

namespace muster::runtime {

namespace {

std::string path_of(const std::string& group, std::string_view file) {
    return fmt::format("{}/{}", group, file);
}

class KernelCgroupFiles final : public CgroupFiles {
  public:
    Result<void> make(const std::string& group) override {
        if (::mkdir(group.c_str(), 0755) < 0)
            return system_error("making the cgroup " + group, errno);
        return {};
    }

    Result<void> remove(const std::string& group) override {
        if (::rmdir(group.c_str()) < 0) return system_error("removing the cgroup " + group, errno);
        return {};
    }

    Result<void> write(const std::string& group, std::string_view file,
                       std::string_view value) override {
        const std::string path = path_of(group, file);
        UniqueFd target(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        if (!target || ::write(target.get(), value.data(), value.size()) < 0)
            return system_error(fmt::format("writing \"{}\" to {}", value, path), errno);
        return {};
    }

    Result<std::string> read(const std::string& group, std::string_view file) override {
        return read_text(path_of(group, file));
    }

    Result<UniqueFd> open(const std::string& group) override {
        UniqueFd directory(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!directory) return system_error("opening the cgroup " + group, errno);
        return directory;
    }

    Result<UniqueFd> claim(const std::string& group) override {
        TRY(UniqueFd directory, open(group));
        struct stat info{};
        if (::fstat(directory.get(), &info) < 0)
            return system_error("reading the cgroup " + group, errno);
        if (info.st_uid != ::geteuid())
            return Error(Code::kForbidden,
                         fmt::format("the cgroup {} belongs to another user", group));
        if (::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return directory;
        if (errno == EWOULDBLOCK)
            return Error(Code::kConflict,
                         fmt::format("the cgroup {} belongs to another muster", group));
        return system_error("locking the cgroup " + group, errno);
    }

    Result<UniqueFd> open_oom_notices(const std::string& group,
                                      process::CgroupVersion version) override {
        const bool v1 = version == process::CgroupVersion::kV1;
        const std::string path = path_of(group, v1 ? "memory.oom_control" : "memory.events");
        UniqueFd counts(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!counts) return system_error("opening " + path, errno);
        if (!v1) return counts;
        UniqueFd notices(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!notices) return system_error("making a descriptor of events", errno);
        TRY_VOID(write(group, "cgroup.event_control",
                       fmt::format("{} {}", notices.get(), counts.get())));
        return notices;
    }

    Result<std::vector<std::string>> children(const std::string& group) override {
        const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(group.c_str()), ::closedir);
        if (directory == nullptr) return system_error("reading the cgroup " + group, errno);
        std::vector<std::string> names;
        while (const dirent* entry = ::readdir(directory.get())) {
            const std::string_view name = entry->d_name;
            if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
        }
        return names;
    }
};

}  // namespace

CgroupFiles& kernel_cgroup_files() {
    static KernelCgroupFiles files;
    return files;
}

Result<void> remove_cgroup_tree(CgroupFiles& files, const std::string& group) {
    auto below = files.children(group);
    if (!below) {
        if (below.error().code() == Code::kNotFound) return {};
        return below.error();
    }
    for (const std::string& name : *below) TRY_VOID(remove_cgroup_tree(files, group + "/" + name));
    auto removed = files.remove(group);
    if (!removed && removed.error().code() != Code::kNotFound) return removed;
    return {};
}

}  // namespace muster::runtime
