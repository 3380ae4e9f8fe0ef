#include "runtime/cleanup_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "base/rng.h"
#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/node_fixture.h"
#include "runtime/stale_state.h"

namespace muster::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns when nobody else holds the directory's lock: all who had it are gone.
void wait_for_lock(const UniqueFd& directory) { ASSERT_EQ(::flock(directory.get(), LOCK_EX), 0); }

UniqueFd open_directory(const fs::path& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd pidfd_of(pid_t pid) {
    return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// Returns when it has ended; it stays to be waited for.
void kill_keeper(const Keeper& keeper) {
    ::kill(keeper.pid(), SIGKILL);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(keeper.pid()), &info, WEXITED | WNOWAIT), 0);
}

pid_t start_sleeper() {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close_range(3, ~0U, 0);  // the locks of others
        for (;;) ::pause();
    }
    return pid;
}

class KeeperTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/muster-keeper-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        state = dir / "muster-run-test";
        fs::create_directories(state / "pods/deep");
        std::ofstream(state / "pods/deep/file") << "content\n";
    }
    void TearDown() override { fs::remove_all(dir); }

    /// A process that has a keeper look after the directory and the group, and is killed.
    void be_killed(pid_t still_running, const std::string& group = {}) {
        const pid_t muster = ::fork();
        if (muster == 0) {
            const UniqueFd lock = open_directory(state);
            ::flock(lock.get(), LOCK_EX);
            auto keeper = Keeper::start();
            if (!keeper || !(*keeper)->remove_directory(state) || !(*keeper)->hold(lock.get()) ||
                !(*keeper)->remove_directory(dir / "never made") ||
                !(*keeper)->wait_for(pidfd_of(still_running).get()))
                ::_exit(1);
            if (!group.empty()) {
                auto claim = kernel_cgroup_files().claim(group);
                if (!claim || !(*keeper)->remove_cgroup(group) || !(*keeper)->hold(claim->get()))
                    ::_exit(1);
            }
            ::raise(SIGKILL);
        }
        int status = 0;
        ::waitpid(muster, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status));
    }

    fs::path dir;
    fs::path state;
};

TEST_F(KeeperTest, CleansUpAfterAKilledMusterOnceItsProcessesHaveEnded) {
    const UniqueFd directory = open_directory(state);
    const pid_t sleeper = start_sleeper();
    be_killed(sleeper);
    EXPECT_TRUE(fs::exists(state / "pods/deep/file"));
    EXPECT_EQ(::flock(directory.get(), LOCK_EX | LOCK_NB), -1);  // still claimed
    ::kill(sleeper, SIGKILL);
    ::waitpid(sleeper, nullptr, 0);
    wait_for_lock(directory);
    EXPECT_FALSE(fs::exists(state));
}

TEST_F(KeeperTest, AnOrdinaryEndWaitsForIt) {
    auto keeper = Keeper::start();
    ASSERT_TRUE(keeper) << keeper.error().message();
    ASSERT_TRUE((*keeper)->remove_directory(state));
    keeper->reset();
    EXPECT_FALSE(fs::exists(state));
}

TEST_F(KeeperTest, ItsOwnDeathIsToldOnceAndHoldsNothingUp) {
    std::vector<std::string> told;
    log::set_sink([&](log::Level, std::string_view line) { told.emplace_back(line); });
    auto keeper = Keeper::start();
    ASSERT_TRUE(keeper) << keeper.error().message();
    ASSERT_TRUE((*keeper)->remove_directory(state));
    kill_keeper(**keeper);
    EXPECT_TRUE((*keeper)->wait_for(pidfd_of(::getpid()).get()));
    EXPECT_TRUE((*keeper)->remove_directory(dir / "later"));
    keeper->reset();
    log::set_sink({});
    EXPECT_THAT(told, ElementsAre(HasSubstr("`muster clean` removes what is left")));
    EXPECT_TRUE(fs::exists(state));
}

/// The first group of this machine's that may have others below it.
class GroupTest : public KeeperTest {
  protected:
    void SetUp() override {
        KeeperTest::SetUp();
        make_group(false);
    }
    void make_group(bool outlives) {
        const Cgroups::Place place = Cgroups::place_of_this_process();
        const std::string name =
            node_group_name(fmt::format("keeper test {}", Rng::from_system().next()), outlives);
        for (const process::CgroupHierarchy& hierarchy :
             process::find_cgroup_hierarchies(place.mountinfo, place.own_groups)) {
            group = hierarchy.own + "/" + name;
            if (kernel_cgroup_files().make(group) && kernel_cgroup_files().make(group + "/pod"))
                return;
        }
        GTEST_SKIP() << "this machine lets us make no cgroup";
    }
    pid_t start_inside() {
        const pid_t pid = start_sleeper();
        EXPECT_TRUE(
            kernel_cgroup_files().write(group + "/pod", "cgroup.procs", std::to_string(pid)));
        return pid;
    }

    std::string group;
};

class OutlivingGroupTest : public GroupTest {
  protected:
    void SetUp() override {
        KeeperTest::SetUp();
        make_group(true);
    }
};

TEST_F(GroupTest, AKilledMustersGroupsGoWithWhatRunsInThem) {
    const UniqueFd directory = open_directory(state);
    const pid_t ended = start_sleeper();
    ::kill(ended, SIGKILL);
    const pid_t stray = start_inside();
    be_killed(ended, group);
    ::waitpid(ended, nullptr, 0);
    int status = 0;
    ASSERT_EQ(::waitpid(stray, &status, 0), stray);
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    wait_for_lock(directory);
    EXPECT_FALSE(fs::exists(group));
}

TEST_F(GroupTest, LeftoversAreWhatNobodyHasLocked) {
    fs::create_directory(dir / "muster-run-live");
    fs::create_directory(dir / "other");
    const UniqueFd live = open_directory(dir / "muster-run-live");
    ASSERT_EQ(::flock(live.get(), LOCK_EX), 0);
    auto claim = kernel_cgroup_files().claim(group);
    ASSERT_TRUE(claim);

    auto removed = remove_leftovers(dir, "muster-run-");
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(state.string()));
    EXPECT_FALSE(fs::exists(state));
    EXPECT_TRUE(fs::exists(dir / "muster-run-live"));
    EXPECT_TRUE(fs::exists(dir / "other"));
    EXPECT_TRUE(fs::exists(group));

    const pid_t stray = start_inside();
    claim->reset();
    removed = remove_leftovers(dir, "muster-run-");
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(HasSubstr(group)));
    EXPECT_FALSE(fs::exists(group));
    ::waitpid(stray, nullptr, 0);
    removed = remove_leftovers(dir, "muster-run-");
    ASSERT_TRUE(removed);
    EXPECT_THAT(*removed, Not(Contains(HasSubstr(group))));
}

TEST_F(OutlivingGroupTest, StaysUntilItsPodsHaveEnded) {
    const pid_t pod = start_inside();
    auto removed = remove_leftovers(dir, "muster-run-");
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Not(Contains(HasSubstr(group))));
    EXPECT_TRUE(fs::exists(group + "/pod"));

    ::kill(pod, SIGKILL);
    ::waitpid(pod, nullptr, 0);
    {
        auto claim = kernel_cgroup_files().claim(group);
        ASSERT_TRUE(claim);
        removed = remove_leftovers(dir, "muster-run-");
        ASSERT_TRUE(removed) << removed.error().message();
        EXPECT_THAT(*removed, Not(Contains(HasSubstr(group))));
    }
    removed = remove_leftovers(dir, "muster-run-");
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(HasSubstr(group)));
    EXPECT_FALSE(fs::exists(group));
}

class KeptNodeTest : public NodeTest {};

TEST_P(KeptNodeTest, RunsPodsWhenItsKeeperWasKilled) {
    for (const bool before : {true, false}) {
        SCOPED_TRACE(before ? "before it starts" : "before its pods do");
        auto keeper = Keeper::start();
        ASSERT_TRUE(keeper) << keeper.error().message();
        options.keeper = keeper->get();
        if (before) kill_keeper(**keeper);
        start_node();
        if (!before) kill_keeper(**keeper);
        create(pod_json(
            "p", json::array{json::object{{"name", "main"},
                                          {"image", "image"},
                                          {"command", json::array{"sh", "-c", "echo hello"}}}}));
        wait_phase("p", "Succeeded");
        EXPECT_EQ(logs("p"), "hello\n");
        tear_down();
        SetUp();
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, KeptNodeTest,
                         ::testing::Values(SandboxMode::kNone, SandboxMode::kNamespaces));

}  // namespace
}  // namespace muster::runtime
