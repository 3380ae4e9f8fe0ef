#include "runtime/cleanup_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "base/rng.h"
#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/node_fixture.h"
#include "runtime/stale_state.h"

namespace muster::runtime::cleanup_process_test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Returns when no one else holds the directory's lock: all holders are gone.
void wait_for_lock(const UniqueFd& directory) { ASSERT_EQ(::flock(directory.get(), LOCK_EX), 0); }

UniqueFd open_directory(const fs::path& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd pidfd_of(pid_t pid) {
    return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// Returns when it has ended; it stays to be waited for.
void kill_cleanup_process(const CleanupProcess& cleanup) {
    ::kill(cleanup.pid(), SIGKILL);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(cleanup.pid()), &info, WEXITED | WNOWAIT), 0);
}

/// Returns when the process no longer has the locks of this one.
pid_t start_sleeper() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close_range(3, ~0U, 0);
        for (;;) ::pause();
    }
    ::close(ends[1]);
    char none = 0;
    EXPECT_EQ(::read(ends[0], &none, 1), 0);
    ::close(ends[0]);
    return pid;
}

constexpr const char* kMarker = ".run";

class CleanupProcessTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/muster-cleanup-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        state = dir / "muster-run-0123456789abcdef";
        fs::create_directories(state / "pods/deep");
        std::ofstream(state / "pods/deep/file") << "content\n";
        std::ofstream(state / kMarker) << "";
    }
    void TearDown() override { fs::remove_all(dir); }

    Result<std::vector<std::string>> remove_stale() const {
        return remove_stale_state({.parent = dir, .prefix = "muster-run-", .marker = kMarker});
    }

    /// A process that has a cleanup process look after the directory and the group, and is killed.
    void be_killed(pid_t still_running, const std::string& group = {}) {
        const pid_t muster = ::fork();
        if (muster == 0) {
            const UniqueFd lock = open_directory(state);
            ::flock(lock.get(), LOCK_EX);
            auto cleanup = CleanupProcess::start();
            if (!cleanup || !(*cleanup)->remove_directory(state, kMarker) ||
                !(*cleanup)->hold(lock.get()) ||
                !(*cleanup)->remove_directory(dir / "never made", kMarker) ||
                !(*cleanup)->wait_for(pidfd_of(still_running).get()))
                ::_exit(1);
            if (!group.empty()) {
                auto claim = kernel_cgroup_files().claim(group);
                if (!claim || !(*cleanup)->remove_cgroup(group) || !(*cleanup)->hold(claim->get()))
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

TEST_F(CleanupProcessTest, CleansUpAfterAKilledMusterOnceItsProcessesHaveEnded) {
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

TEST_F(CleanupProcessTest, InheritsNoDescriptors) {
    const UniqueFd inherited(::open("/dev/zero", O_RDONLY));  // without close-on-exec
    auto cleanup = CleanupProcess::start();
    ASSERT_TRUE(cleanup) << cleanup.error().message();
    std::vector<std::string> opened;
    for (const auto& entry :
         fs::directory_iterator(fmt::format("/proc/{}/fd", (*cleanup)->pid()))) {
        std::error_code closed;  // it opens and closes others while it starts
        opened.push_back(fs::read_symlink(entry, closed));
    }
    EXPECT_THAT(opened, Not(Contains("/dev/zero")));
    EXPECT_THAT(opened, Contains(StartsWith("socket:")));
}

/// Otherwise `muster clean` would not know what is left when its removal is cut short.
TEST_F(CleanupProcessTest, TheMarkerIsRemovedLast) {
    for (int i = 0; i < 20; ++i) std::ofstream(state / std::to_string(i)) << "more\n";
    const UniqueFd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    ASSERT_GE(::inotify_add_watch(changes.get(), state.c_str(), IN_DELETE), 0);
    auto cleanup = CleanupProcess::start();
    ASSERT_TRUE(cleanup) << cleanup.error().message();
    ASSERT_TRUE((*cleanup)->remove_directory(state, kMarker));
    cleanup->reset();
    alignas(inotify_event) std::array<char, 8192> buffer;
    const ssize_t size = ::read(changes.get(), buffer.data(), buffer.size());
    std::vector<std::string> deleted;
    for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        if ((event->mask & IN_DELETE) != 0) deleted.emplace_back(event->name);
        at += static_cast<ssize_t>(sizeof *event + event->len);
    }
    ASSERT_EQ(deleted.size(), 22u);
    EXPECT_EQ(deleted.back(), kMarker);
    EXPECT_FALSE(fs::exists(state));
}

TEST_F(CleanupProcessTest, AnOrdinaryEndWaitsForIt) {
    auto cleanup = CleanupProcess::start();
    ASSERT_TRUE(cleanup) << cleanup.error().message();
    ASSERT_TRUE((*cleanup)->remove_directory(state, kMarker));
    cleanup->reset();
    EXPECT_FALSE(fs::exists(state));
}

TEST_F(CleanupProcessTest, ItsOwnDeathIsToldOnceAndHoldsNothingUp) {
    std::vector<std::string> told;
    log::set_sink([&](log::Level, std::string_view line) { told.emplace_back(line); });
    auto cleanup = CleanupProcess::start();
    ASSERT_TRUE(cleanup) << cleanup.error().message();
    ASSERT_TRUE((*cleanup)->remove_directory(state, kMarker));
    kill_cleanup_process(**cleanup);
    EXPECT_TRUE((*cleanup)->wait_for(pidfd_of(::getpid()).get()));
    EXPECT_TRUE((*cleanup)->remove_directory(dir / "later", kMarker));
    cleanup->reset();
    log::set_sink({});
    EXPECT_THAT(told, ElementsAre(HasSubstr("`muster clean` removes what is left")));
    EXPECT_TRUE(fs::exists(state));
}

/// The first group of this machine's that may have others below it.
class GroupTest : public CleanupProcessTest {
  protected:
    void SetUp() override {
        CleanupProcessTest::SetUp();
        make_group(false);
    }
    void make_group(bool outlives) {
        const Cgroups::Place place = Cgroups::place_of_this_process();
        const std::string name =
            node_group_name(fmt::format("cleanup test {}", Rng::from_system().next()), outlives);
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

TEST_F(CleanupProcessTest, WhatOnlyLooksLikeStaleStateStays) {
    const fs::path marked[] = {dir / "muster-run-results", dir / "muster-run-0123456789abcde",
                               dir / "muster-run-0123456789abcdef0",
                               dir / "muster-run-0123456789ABCDEF",
                               dir / "muster-kept-0123456789abcdef"};
    for (const fs::path& path : marked) {
        fs::create_directory(path);
        std::ofstream(path / kMarker) << "";
    }
    const fs::path unmarked = dir / "muster-run-1111111111111111";
    fs::create_directory(unmarked);
    std::ofstream(unmarked / "results") << "mine\n";
    const fs::path linked = dir / "muster-run-2222222222222222";
    fs::create_directory(linked);
    fs::create_symlink(state / kMarker, linked / kMarker);
    const fs::path empty = dir / "muster-run-3333333333333333";  // killed as it was made
    fs::create_directory(empty);

    const auto removed = remove_stale();
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(state.string()));
    EXPECT_THAT(*removed, Contains(empty.string()));
    for (const fs::path& path : marked) EXPECT_TRUE(fs::exists(path / kMarker)) << path;
    EXPECT_TRUE(fs::exists(unmarked / "results"));
    EXPECT_TRUE(fs::exists(linked));
    EXPECT_FALSE(fs::exists(state));
    EXPECT_FALSE(fs::exists(empty));
}

class OutlivingGroupTest : public GroupTest {
  protected:
    void SetUp() override {
        CleanupProcessTest::SetUp();
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

TEST_F(GroupTest, StaleStateIsWhatNobodyHasLocked) {
    fs::create_directory(dir / "muster-run-00000000000000aa");
    fs::create_directory(dir / "other");
    const UniqueFd live = open_directory(dir / "muster-run-00000000000000aa");
    ASSERT_EQ(::flock(live.get(), LOCK_EX), 0);
    auto claim = kernel_cgroup_files().claim(group);
    ASSERT_TRUE(claim);

    auto removed = remove_stale();
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(state.string()));
    EXPECT_FALSE(fs::exists(state));
    EXPECT_TRUE(fs::exists(dir / "muster-run-00000000000000aa"));
    EXPECT_TRUE(fs::exists(dir / "other"));
    EXPECT_TRUE(fs::exists(group));

    const pid_t stray = start_inside();
    claim->reset();
    removed = remove_stale();
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(HasSubstr(group)));
    EXPECT_FALSE(fs::exists(group));
    ::waitpid(stray, nullptr, 0);
    removed = remove_stale();
    ASSERT_TRUE(removed);
    EXPECT_THAT(*removed, Not(Contains(HasSubstr(group))));
}

TEST_F(OutlivingGroupTest, StaysUntilItsPodsHaveEnded) {
    const pid_t pod = start_inside();
    auto removed = remove_stale();
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Not(Contains(HasSubstr(group))));
    EXPECT_TRUE(fs::exists(group + "/pod"));

    ::kill(pod, SIGKILL);
    ::waitpid(pod, nullptr, 0);
    {
        auto claim = kernel_cgroup_files().claim(group);
        ASSERT_TRUE(claim);
        removed = remove_stale();
        ASSERT_TRUE(removed) << removed.error().message();
        EXPECT_THAT(*removed, Not(Contains(HasSubstr(group))));
    }
    removed = remove_stale();
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_THAT(*removed, Contains(HasSubstr(group)));
    EXPECT_FALSE(fs::exists(group));
}

class NodeWithCleanupTest : public NodeTest {};

TEST_P(NodeWithCleanupTest, RunsPodsWhenItsCleanupProcessWasKilled) {
    for (const bool before : {true, false}) {
        SCOPED_TRACE(before ? "before it starts" : "before its pods do");
        auto cleanup = CleanupProcess::start();
        ASSERT_TRUE(cleanup) << cleanup.error().message();
        options.cleanup = cleanup->get();
        if (before) kill_cleanup_process(**cleanup);
        start_node();
        if (!before) kill_cleanup_process(**cleanup);
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

INSTANTIATE_TEST_SUITE_P(Modes, NodeWithCleanupTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

}  // namespace
}  // namespace muster::runtime::cleanup_process_test
