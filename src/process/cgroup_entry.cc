#include "process/cgroup_entry.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace muster::process {

namespace {

void write_if_there(int group, const char* file, const char* value) {
    const UniqueFd target(::openat(group, file, O_WRONLY | O_CLOEXEC));
    if (target && ::write(target.get(), value, 1) < 0) {
        // The processes are killed one by one in any case.
    }
}

}  // namespace

CgroupEntry::CgroupEntry(std::vector<UniqueFd> groups) : groups_(std::move(groups)) {
    for (const UniqueFd& group : groups_) {
        UniqueFd tasks(::openat(group.get(), "tasks", O_WRONLY | O_CLOEXEC));
        if (tasks)
            tasks_.push_back(std::move(tasks));
        else
            target_ = group.get();
    }
}

pid_t CgroupEntry::fork_into() const {
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP | CLONE_VFORK;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<__u64>(target_);
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

int CgroupEntry::enter() const {
    for (const UniqueFd& tasks : tasks_)
        if (::write(tasks.get(), "0", 1) < 0) return errno;
    return 0;
}

void CgroupEntry::stop() const {
    for (const UniqueFd& group : groups_) {
        write_if_there(group.get(), "pids.max", "0");
        write_if_there(group.get(), "cgroup.kill", "1");
    }
}

}  // namespace muster::process
