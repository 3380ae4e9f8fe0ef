#include "process/cgroup_entry.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "process/cgroup_fixture.h"

namespace muster::process::cgroup_entry_test {
namespace {

namespace fs = std::filesystem;

class Version2Group : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!group.made()) GTEST_SKIP() << "no group of version 2 can be made here";
        path = group.path();
    }
    CgroupEntry entry() const {
        std::vector<UniqueFd> groups;
        groups.push_back(group.open());
        return CgroupEntry(std::move(groups));
    }

    Version2TestGroup group;
    fs::path path;
};

TEST_F(Version2Group, AProcessBeginsInItAndAStopEndsAllOfThem) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const CgroupEntry into = entry();
    ASSERT_GE(into.target(), 0);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = into.fork_into();
    if (child == 0) {
        const pid_t grandchild = ::fork();
        if (into.enter() != 0 || grandchild < 0 || ::write(ends[1], "x", 1) != 1) ::_exit(1);
        if (grandchild > 0) ::execl("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr));
        for (;;) ::pause();
    }
    ASSERT_GT(child, 0);
    std::array<char, 1> ready{};
    for (int process = 0; process < 2; ++process) ASSERT_EQ(::read(ends[0], ready.data(), 1), 1);
    EXPECT_NE(content_of(path / "cgroup.procs").find(std::to_string(child)), std::string::npos);
    into.stop();
    for (int process = 0; process < 2; ++process) {
        int status = 0;
        ASSERT_GT(::waitpid(-1, &status, 0), 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::close(ends[1]);
    ::close(ends[0]);
}

TEST(CgroupEntry, WithoutGroupsThereIsNothingToEnter) {
    const CgroupEntry none;
    EXPECT_EQ(none.target(), -1);
    EXPECT_EQ(none.enter(), 0);
    none.stop();
}

}  // namespace
}  // namespace muster::process::cgroup_entry_test
