#include "runtime/internal/limits/cgroups.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_loop.h"
#include "process/cgroup_entry.h"
#include "runtime/internal/limits/fake_cgroup_files.h"

namespace muster::runtime::cgroups_test {
namespace {

using enum Controller;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

constexpr const char* kRoot = "/cg";
const std::set<Controller> kAll = {kMemory, kCpu, kPids};

Cgroups::Place place(const std::string& own, bool root) {
    return {.mountinfo = "35 24 0:30 / /cg rw - cgroup2 cgroup2 rw\n",
            .own_groups = "0::" + own + "\n",
            .pid_max = 32768,
            .threads_max = 100000,
            .cpus = 4,
            .root = root};
}

std::vector<std::string> names(const Cgroups& cgroups) {
    std::vector<std::string> names;
    for (const Cgroups::Claim& claim : cgroups.claims()) names.push_back(claim.group);
    return names;
}

/// A systemd scope with Delegate=yes: the scope is the caller's, what is above is not.
struct Scope {
    FakeCgroupFiles files{kRoot};
    Scope() {
        files.groups.at(kRoot).writable = false;
        files.enable(kRoot, kAll);
        files.add("/cg/user", false);
        files.enable("/cg/user", kAll);
        files.add("/cg/user/scope", true);
        files.at = "/cg/user/scope";
    }
};

TEST(Cgroups, AloneInADelegatedGroupMusterMovesAsideAndLimitsBelowIt) {
    Scope scope;
    auto cgroups = Cgroups::create(scope.files, place("/user/scope", false), "muster-x");
    EXPECT_EQ(cgroups.obstacle(), "");
    for (const Controller controller : kControllers) EXPECT_TRUE(cgroups.enforces(controller));
    EXPECT_EQ(scope.files.at, "/cg/user/scope/muster-x-self");
    EXPECT_EQ(scope.files.value("/cg/user/scope/muster-x", "pids.max"), "28672");
    EXPECT_EQ(scope.files.value("/cg/user/scope/muster-x", "cpu.weight"), "157");
    EXPECT_THAT(names(cgroups),
                ElementsAre("/cg/user/scope/muster-x-self", "/cg/user/scope/muster-x"));
    // What is started from here on begins aside, too.
    scope.files.groups.at("/cg/user/scope/muster-x-self").others = 1;
    {
        auto pod = cgroups.make_pod("uid", 500);
        ASSERT_TRUE(pod) << pod.error().message();
        const std::string at = "/cg/user/scope/muster-x/uid";
        EXPECT_EQ(scope.files.value(at, "pids.max"), "8192");
        EXPECT_EQ(scope.files.value(at, "cpu.weight"), "20");
        auto container = (*pod)->make_container("main-0", {.memory_bytes = 4096, .cpu_milli = 100});
        ASSERT_TRUE(container) << container.error().message();
        EXPECT_EQ(scope.files.value(at + "/main-0", "memory.max"), "4096");
        EXPECT_EQ(scope.files.value(at + "/main-0", "memory.oom.group"), "1");
        EXPECT_EQ(scope.files.value(at + "/main-0", "cpu.max"), "10000 100000");
        ASSERT_TRUE((*container)->open());
        EXPECT_THAT(scope.files.opened, ElementsAre(at + "/main-0"));
        EXPECT_EQ((*container)->oom_kills(), 0);
        scope.files.groups.at(at + "/main-0").files["memory.events"] = "oom_kill 1\n";
        EXPECT_EQ((*container)->oom_kills(), 1);
    }
    ASSERT_TRUE(cgroups.remove());
    EXPECT_EQ(scope.files.at, "/cg/user/scope");
    EXPECT_EQ(scope.files.groups.at("/cg/user/scope").others, 1);
    EXPECT_THAT(scope.files.groups.at("/cg/user/scope").enabled, IsEmpty());
    EXPECT_EQ(scope.files.groups.size(), 3u);
}

TEST(Cgroups, GroupsOfPodsThatGoOnAreKeptAndFoundAgain) {
    Scope scope;
    auto cgroups = Cgroups::create(scope.files, place("/user/scope", false), "muster-up-x");
    const std::string at = "/cg/user/scope/muster-up-x";
    for (const char* group : {"/gone", "/gone/main-1", "/here", "/here/main-1"})
        ASSERT_TRUE(scope.files.make(at + group));
    cgroups.keep_only({"here"});
    EXPECT_FALSE(scope.files.groups.contains(at + "/gone"));
    ASSERT_TRUE(scope.files.groups.contains(at + "/here/main-1"));
    auto pod = cgroups.make_pod("here", 500);
    ASSERT_TRUE(pod) << pod.error().message();
    auto container = (*pod)->make_container("main-1", {.memory_bytes = 4096, .cpu_milli = 100});
    ASSERT_TRUE(container) << container.error().message();
    EXPECT_EQ(scope.files.value(at + "/here/main-1", "memory.max"), "4096");
}

// What systemd makes of DelegateSubgroup=: it could not put the next daemon into a group that limits
// those below it.
TEST(Cgroups, BesideTheGroupOfADaemonItsOwnStaysAsItIs) {
    Scope scope;
    const std::string daemon = "/cg/user/scope/muster-daemon";
    scope.files.add(daemon, true);
    scope.files.at = daemon;
    const Cgroups::Place here = place("/user/scope/muster-daemon", false);
    EXPECT_THAT(Cgroups::possible_groups(here, "muster-up-x"),
                testing::Contains("/cg/user/scope/muster-up-x"));
    for (const char* daemons : {"the first", "the next"}) {
        auto cgroups = Cgroups::create(scope.files, here, "muster-up-x");
        EXPECT_EQ(cgroups.obstacle(), "") << daemons;
        for (const Controller controller : kControllers)
            EXPECT_TRUE(cgroups.enforces(controller)) << daemons;
        EXPECT_EQ(scope.files.at, daemon);
        EXPECT_THAT(scope.files.groups.at(daemon).enabled, IsEmpty());
        EXPECT_THAT(names(cgroups), ElementsAre("/cg/user/scope/muster-up-x"));
        scope.files.claimed.clear();  // as at its end
    }
    // With others in the service's group there are no limits, and nobody joins them.
    scope.files.enable("/cg/user/scope", {});
    scope.files.groups.at("/cg/user/scope").others = 1;
    const auto cgroups = Cgroups::create(scope.files, here, "muster-up-x");
    EXPECT_FALSE(cgroups.enforces(kMemory));
    EXPECT_EQ(scope.files.at, daemon);
}

TEST(Cgroups, WithOthersInTheGroupNothingIsLimitedAndNothingIsMoved) {
    Scope scope;
    scope.files.groups.at("/cg/user/scope").others = 1;
    auto cgroups = Cgroups::create(scope.files, place("/user/scope", false), "muster-x");
    for (const Controller controller : kControllers) EXPECT_FALSE(cgroups.enforces(controller));
    EXPECT_EQ(scope.files.at, "/cg/user/scope");
    EXPECT_EQ(scope.files.groups.size(), 3u);
    EXPECT_THAT(
        cgroups.obstacle(),
        AllOf(HasSubstr("memory, cpu, pids"), HasSubstr("/cg/user/scope"),
              HasSubstr("systemd-run --user --scope -p Delegate=yes"), HasSubstr("as root")));
    auto pod = cgroups.make_pod("uid", 500);
    ASSERT_TRUE(pod);
    auto container = (*pod)->make_container("main-0", {.memory_bytes = 4096, .cpu_milli = {}});
    ASSERT_TRUE(container);
    EXPECT_EQ((*container)->oom_kills(), 0);
    EXPECT_TRUE(cgroups.remove());
}

TEST(Cgroups, InAGroupOfSomebodyElseNothingIsLimited) {
    Scope scope;
    scope.files.groups.at("/cg/user/scope").writable = false;
    auto cgroups = Cgroups::create(scope.files, place("/user/scope", false), "muster-x");
    EXPECT_FALSE(cgroups.enforces(kMemory));
    EXPECT_THAT(cgroups.obstacle(), HasSubstr("Permission denied"));
    kube::Pod pod;
    pod.spec.containers.resize(2);
    pod.spec.containers[1].resources.limits = {{"memory", "1Gi"}, {"example.com/x", 1}};
    EXPECT_THAT(limits_not_enforced(pod, cgroups),
                ElementsAre("spec.containers[1].resources.limits.memory"));
}

TEST(Cgroups, LimitsThatNoGroupHasAreNamed) {
    kube::Pod pod;
    pod.spec.containers.resize(2);
    pod.spec.containers[1].resources.limits = {
        {"cpu", 1}, {"ephemeral-storage", "1Gi"}, {"hugepages-2Mi", "4Mi"}, {"nvidia.com/gpu", 1}};
    pod.spec.init_containers.resize(1);
    pod.spec.init_containers[0].resources.limits = {{"ephemeral-storage", "1Gi"}};
    EXPECT_THAT(limits_without_cgroup(pod),
                ElementsAre(HasSubstr("spec.initContainers[0].resources.limits[ephemeral-storage]"),
                            HasSubstr("spec.containers[1].resources.limits[ephemeral-storage]"),
                            HasSubstr("spec.containers[1].resources.limits[hugepages-2Mi]")));
}

TEST(Cgroups, RootUsesTheRootOfTheTreeWhereItsOwnGroupHasOthers) {
    FakeCgroupFiles files(kRoot);
    files.enable(kRoot, kAll);
    files.add("/cg/session", true).others = 3;
    files.at = "/cg/session";
    auto cgroups = Cgroups::create(files, place("/session", true), "muster-x");
    EXPECT_EQ(cgroups.obstacle(), "");
    EXPECT_EQ(files.at, "/cg/session");
    EXPECT_EQ(files.value("/cg/muster-x", "pids.max"), "28672");
    ASSERT_TRUE(cgroups.remove());
    EXPECT_EQ(files.groups.size(), 2u);
}

TEST(Cgroups, AnotherMusterOfTheSameNameIsLeftAlone) {
    FakeCgroupFiles files(kRoot);
    files.enable(kRoot, kAll);
    auto first = Cgroups::create(files, place("/", true), "muster-x");
    ASSERT_TRUE(first.enforces(kMemory));
    auto second = Cgroups::create(files, place("/", true), "muster-x");
    EXPECT_FALSE(second.enforces(kMemory));
    EXPECT_THAT(second.obstacle(), HasSubstr("claimed"));
    ASSERT_TRUE(second.remove());
    EXPECT_TRUE(files.groups.contains("/cg/muster-x"));
}

TEST(Cgroups, HowManyProcessesAPodMayHaveCanBeSaid) {
    FakeCgroupFiles files(kRoot);
    files.enable(kRoot, kAll);
    auto cgroups = Cgroups::create(files, place("/", true), "muster-x", 77);
    auto pod = cgroups.make_pod("uid", 0);
    EXPECT_EQ(files.value("/cg/muster-x/uid", "pids.max"), "77");
}

TEST(Cgroups, WithoutATreeItSaysSo) {
    FakeCgroupFiles files(kRoot);
    auto cgroups = Cgroups::create(files, {}, "muster-x");
    EXPECT_THAT(cgroups.obstacle(), HasSubstr("no tree of cgroups"));
}

// --- the kernel's own groups, where this machine lets us

class KernelCgroupsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        cgroups = std::make_unique<Cgroups>(
            Cgroups::create(kernel_cgroup_files(), Cgroups::place_of_this_process(),
                            fmt::format("muster-test-{}", ::getpid()), 64));
        if (!cgroups->obstacle().empty()) GTEST_SKIP() << cgroups->obstacle();
        groups = names(*cgroups);
        auto made = cgroups->make_pod("pod", 100);
        ASSERT_TRUE(made) << made.error().message();
        pod = *std::move(made);
    }
    void TearDown() override {
        pod.reset();
        auto removed = cgroups->remove();
        EXPECT_TRUE(removed) << removed.error().message();
        for (const std::string& group : groups) EXPECT_FALSE(fs::exists(group)) << group;
    }

    /// Runs in the group, in a process of its own; its wait status.
    template <class Body>
    static int run_in(const ContainerCgroup& container, Body body) {
        auto groups = container.open();
        EXPECT_TRUE(groups);
        const process::CgroupEntry entry(*std::move(groups));
        const pid_t child = entry.target() < 0 ? ::fork() : entry.fork_into();
        if (child == 0) ::_exit(entry.enter() != 0 ? 99 : body());
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    }
    std::unique_ptr<ContainerCgroup> container(const ContainerLimits& limits) {
        auto made = pod->make_container("main", limits);
        EXPECT_TRUE(made) << made.error().message();
        return made ? *std::move(made) : nullptr;
    }

    std::unique_ptr<Cgroups> cgroups;
    std::vector<std::string> groups;
    std::unique_ptr<PodCgroup> pod;
};

int touch(std::size_t megabytes) {
    const std::size_t size = megabytes << 20;
    auto* memory = static_cast<char*>(
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) return 98;
    for (std::size_t at = 0; at < size; at += 4096) memory[at] = 1;
    return 0;
}

TEST_F(KernelCgroupsTest, TooMuchMemoryIsAKillThatIsToldApart) {
    auto limited = container({.memory_bytes = 32 << 20, .cpu_milli = {}});
    ASSERT_TRUE(limited);
    EXPECT_EQ(run_in(*limited, [] { return touch(8); }), 0);
    EXPECT_EQ(limited->oom_kills(), 0);
    int status = run_in(*limited, [] { return ::kill(::getpid(), SIGKILL); });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(limited->oom_kills(), 0);
    status = run_in(*limited, [] { return touch(64); });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_EQ(limited->oom_kills(), 1);
}

TEST_F(KernelCgroupsTest, AKillForMemoryIsNoticedWhileTheGroupLives) {
    RealLoop loop;
    auto limited = container({.memory_bytes = 32 << 20, .cpu_milli = {}});
    ASSERT_TRUE(limited);
    auto notices = limited->oom_notices(loop.context.get_executor());
    ASSERT_TRUE(notices) << notices.error().message();
    ASSERT_NE(*notices, nullptr);
    for (int kills = 1; kills <= 2; ++kills) {
        EXPECT_TRUE(WIFSIGNALED(run_in(*limited, [] { return touch(64); })));
        loop.await((*notices)->wait());
        EXPECT_EQ(limited->oom_kills(), kills);
    }
    auto unlimited = pod->make_container("other", {});
    ASSERT_TRUE(unlimited);
    EXPECT_TRUE((*unlimited)->oom_notices(loop.context.get_executor()));
}

TEST_F(KernelCgroupsTest, ProcessesEndAtTheLimitOfThePod) {
    auto limited = container({});
    ASSERT_TRUE(limited);
    const int status = run_in(*limited, [] {
        std::vector<pid_t> children;
        while (children.size() < 200) {
            const pid_t child = ::fork();
            if (child < 0) break;
            if (child == 0)
                for (;;) ::pause();
            children.push_back(child);
        }
        for (const pid_t child : children) ::kill(child, SIGKILL);
        for (const pid_t child : children) ::waitpid(child, nullptr, 0);
        return static_cast<int>(children.size());
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 63);
}

TEST(NodeGroupName, IsKnownByItsForm) {
    const std::string name = node_group_name("/tmp/muster-run-1");
    EXPECT_EQ(name, node_group_name("/tmp/muster-run-1"));
    EXPECT_NE(name, node_group_name("/tmp/muster-run-2"));
    EXPECT_TRUE(is_node_group_name(name));
    EXPECT_TRUE(is_node_group_name(name + "-self"));
    for (const char* other : {"", "muster-", "muster-run-0123456789abcd", "muster-0123456789abcde",
                              "muster-0123456789abcdefg", "other-0123456789abcdef"})
        EXPECT_FALSE(is_node_group_name(other)) << other;
    const std::string outliving = node_group_name("/tmp/muster-run-1", true);
    EXPECT_TRUE(is_node_group_name(outliving, true));
    EXPECT_TRUE(is_node_group_name(outliving + "-self", true));
    EXPECT_FALSE(is_node_group_name(outliving));
    EXPECT_FALSE(is_node_group_name(name, true));
}

}  // namespace
}  // namespace muster::runtime::cgroups_test
