#include "runtime/internal/cgroup_entry.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/internal/cgroup_hierarchies.h"

namespace muster::runtime {
namespace {

namespace fs = std::filesystem;

std::string content(const char* path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// A group in this machine's version 2 tree, whether or not it has controllers.
class Version2Group : public ::testing::Test {
  protected:
    void SetUp() override {
        for (const CgroupHierarchy& hierarchy :
             find_cgroup_hierarchies(content("/proc/self/mountinfo"), content("/proc/self/cgroup")))
            if (hierarchy.version == CgroupVersion::kV2)
                path = fs::path(hierarchy.own) / fmt::format("muster-entry-test-{}", ::getpid());
        std::error_code error;
        if (path.empty() || !fs::create_directory(path, error))
            GTEST_SKIP() << "no group of version 2 can be made here";
    }
    void TearDown() override {
        if (!path.empty()) EXPECT_EQ(::rmdir(path.c_str()), 0) << path;
    }
    CgroupEntry entry() const {
        std::vector<UniqueFd> groups;
        groups.emplace_back(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        return CgroupEntry(std::move(groups));
    }

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
    EXPECT_NE(content((path / "cgroup.procs").c_str()).find(std::to_string(child)),
              std::string::npos);
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
}  // namespace muster::runtime
