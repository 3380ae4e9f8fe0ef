#include "runtime/internal/limits/cgroup_sweep.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/fields.h"
#include "base/parse_number.h"
#include "runtime/internal/limits/subtree_control.h"

namespace muster::runtime {

namespace {

std::vector<pid_t> processes_of(CgroupFiles& files, const std::string& group) {
    std::vector<pid_t> pids;
    auto listed = files.read(group, kProcesses);
    for (std::string_view text = listed ? *listed : std::string_view(); !text.empty();) {
        const std::string_view line = take_field(text, '\n');
        const pid_t pid = leading_number<pid_t>(line).value_or(0);
        if (pid > 0 && pid != ::getpid()) pids.push_back(pid);
    }
    return pids;
}

/// By pidfd, so that a number that was reused meanwhile does no harm: the process is looked up in
/// the group again once the descriptor is open.
Result<void> kill_and_wait(CgroupFiles& files, const std::string& group, pid_t pid) {
    UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) return {};
    const std::vector<pid_t> now = processes_of(files, group);
    if (std::ranges::find(now, pid) == now.end()) return {};
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) < 0 && errno != ESRCH)
        return system_error(fmt::format("killing process {} of the cgroup {}", pid, group), errno);
    pollfd ended{process.get(), POLLIN, 0};
    while (::poll(&ended, 1, -1) < 0) {
    }
    return {};
}

Result<void> kill_all(CgroupFiles& files, const std::string& group) {
    TRY(const std::vector<std::string> children, files.children(group));
    for (const std::string& child : children) TRY_VOID(kill_all(files, group + "/" + child));
    // If the file exists, killed processes can't fork any more.
    (void)files.write(group, "pids.max", "0").has_value();
    for (std::vector<pid_t> pids; !(pids = processes_of(files, group)).empty();)
        for (const pid_t pid : pids) TRY_VOID(kill_and_wait(files, group, pid));
    return {};
}

}  // namespace

Result<void> sweep_cgroup(CgroupFiles& files, const std::string& group) {
    if (auto killed = kill_all(files, group); !killed) {
        if (killed.error().code() == Code::kNotFound) return {};
        return killed;
    }
    return remove_cgroup_tree(files, group);
}

Result<bool> has_processes(CgroupFiles& files, const std::string& group) {
    TRY(const std::string processes, files.read(group, kProcesses));
    if (!processes.empty()) return true;
    TRY(const std::vector<std::string> children, files.children(group));
    for (const std::string& child : children) {
        TRY(const bool has, has_processes(files, group + "/" + child));
        if (has) return true;
    }
    return false;
}

}  // namespace muster::runtime
