#include "runtime/stale_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/unique_fd.h"
#include "runtime/internal/limits/cgroup_sweep.h"
#include "runtime/internal/limits/cgroups.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

/// A lock on the directory, if this user owns it and no other process has it.
UniqueFd claim_directory(const fs::path& path) {
    UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!directory || ::fstat(directory.get(), &info) < 0 || info.st_uid != ::geteuid() ||
        ::flock(directory.get(), LOCK_EX | LOCK_NB) < 0)
        return UniqueFd();
    return directory;
}

bool is_name(std::string_view name, std::string_view prefix) {
    return name.starts_with(prefix) && name.size() == prefix.size() + 16 &&
           std::ranges::all_of(name.substr(prefix.size()), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

/// Whether a run made what is in it.
bool is_ours(int directory, const fs::path& path, std::string_view marker) {
    struct stat info{};
    if (::fstatat(directory, std::string(marker).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
    std::error_code unreadable;
    return fs::is_empty(path, unreadable) && !unreadable;
}

Result<void> remove_directories(const RunDirectories& directories,
                                std::vector<std::string>& removed) {
    const auto& [temporary, prefix, marker] = directories;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary, error)) {
        if (!is_name(entry.path().filename().native(), prefix)) continue;
        const UniqueFd claimed = claim_directory(entry.path());
        if (!claimed || !is_ours(claimed.get(), entry.path(), marker)) continue;
        if (const std::error_code failed = remove_run_directory(entry.path(), marker))
            return system_error("removing " + entry.path().string(), failed.value());
        removed.push_back(entry.path());
    }
    if (error) return system_error("reading " + temporary.string(), error.value());
    return {};
}

Result<void> remove_groups_below(CgroupFiles& files, const std::string& parent,
                                 std::vector<std::string>& removed) {
    auto children = files.children(parent);
    if (!children) return {};  // not readable by this user, so nothing of this user is there
    for (const std::string& name : *children) {
        const bool outlives = is_node_group_name(name, true);
        if (!outlives && !is_node_group_name(name)) continue;
        const std::string group = parent + "/" + name;
        const auto claimed = files.claim(group);
        if (!claimed) continue;
        // Pods that run without their node belong to the next one.
        if (outlives && has_processes(files, group).value_or(true)) continue;
        TRY_VOID(sweep_cgroup(files, group));
        removed.push_back("the cgroup " + group);
    }
    return {};
}

}  // namespace

std::error_code remove_run_directory(const fs::path& directory, std::string_view marker) {
    std::error_code failed;
    if (!fs::is_directory(fs::symlink_status(directory, failed)))
        return failed == std::errc::no_such_file_or_directory ? std::error_code() : failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, failed)) {
        if (entry.path().filename() == marker) continue;
        fs::remove_all(entry.path(), failed);
        if (failed) return failed;
    }
    if (!failed) fs::remove_all(directory, failed);
    return failed;
}

Result<std::vector<std::string>> remove_stale_state(const RunDirectories& directories) {
    std::vector<std::string> removed;
    CgroupFiles& files = kernel_cgroup_files();
    const Cgroups::Place place = Cgroups::place_of_this_process();
    for (const process::CgroupHierarchy& hierarchy :
         process::find_cgroup_hierarchies(place.mountinfo, place.own_groups)) {
        TRY_VOID(remove_groups_below(files, hierarchy.own, removed));
        if (hierarchy.root != hierarchy.own)
            TRY_VOID(remove_groups_below(files, hierarchy.root, removed));
    }
    TRY_VOID(remove_directories(directories, removed));
    return removed;
}

}  // namespace muster::runtime
