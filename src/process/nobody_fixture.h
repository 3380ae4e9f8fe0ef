#pragma once

#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace muster::process {

/// The ordinary user that tests switch to if they start as root.
inline constexpr uid_t kNobody = 65534;

/// Switches this process to that user for good; its files in /proc stay its own.
inline bool become_nobody() {
    return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
           ::setresuid(kNobody, kNobody, kNobody) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0;
}

/// Also enters a user namespace, in which it is still that user.
inline bool enter_user_namespace() {
    if (::unshare(CLONE_NEWUSER) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << fmt::format("{0} {0} 1", kNobody);
    std::ofstream("/proc/self/gid_map") << fmt::format("{0} {0} 1", kNobody);
    return true;
}

/// Tries it: some kernels forbid it to ordinary users, and all forbid it in a chroot.
inline bool nobody_may_make_user_namespaces() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(become_nobody() && ::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace muster::process
