#include "process/core_dumps.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::process::core_dumps_test {
namespace {

/// In a child, as the limit is that of a process.
TEST(CoreDumps, AProcessThatForbadeThemLeavesNone) {
    rlimit mine{};
    ASSERT_EQ(::getrlimit(RLIMIT_CORE, &mine), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        rlimit open = mine;
        open.rlim_cur = open.rlim_max;
        ::setrlimit(RLIMIT_CORE, &open);
        const rlim_t before = forbid_core_dumps();
        rlimit now{};
        ::getrlimit(RLIMIT_CORE, &now);
        if (before != open.rlim_max || now.rlim_cur > 1 || now.rlim_max != open.rlim_max)
            ::_exit(1);
        ::signal(SIGQUIT, SIG_DFL);
        ::raise(SIGQUIT);
        ::_exit(2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), SIGQUIT);
    EXPECT_FALSE(WCOREDUMP(status));
}

}  // namespace
}  // namespace muster::process::core_dumps_test
