#include "runtime/daemon_cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/limits/fake_cgroup_files.h"

namespace muster::runtime::daemon_cgroup_test {
namespace {

using enum Controller;

const std::string kService = "/cg/service";

/// A service of systemd with Delegate=yes.
struct Service {
    FakeCgroupFiles files{"/cg"};
    Service() {
        files.groups.at("/cg").writable = false;
        files.enable("/cg", {kMemory, kCpu, kPids});
        files.add(kService, true);
        files.at = kService;
    }
    Cgroups::Place place() const {
        return {.mountinfo = "35 24 0:30 / /cg rw - cgroup2 cgroup2 rw\n",
                .own_groups = "0::" + files.at.substr(3) + "\n",
                .pid_max = 32768,
                .threads_max = 100000};
    }
    Result<DaemonCgroup> enter() {
        return DaemonCgroup::enter(
            files, process::find_cgroup_hierarchies(place().mountinfo, place().own_groups));
    }
};

TEST(DaemonCgroup, EachDaemonLimitsPodsBesideItAndNothingIsLeft) {
    Service service;
    auto entered = service.enter();
    ASSERT_TRUE(entered) << entered.error().message();
    EXPECT_EQ(service.files.at, kService + "/muster-daemon");
    for (const char* daemon : {"the first", "the next"}) {
        auto cgroups = Cgroups::create(service.files, service.place(), "muster-up-x");
        EXPECT_EQ(cgroups.obstacle(), "") << daemon;
        EXPECT_EQ(service.files.at, kService + "/muster-daemon") << daemon;
        ASSERT_TRUE(cgroups.make_pod("uid", 500)) << daemon;
        service.files.claimed.clear();  // as after a crash
    }
    entered->leave();
    EXPECT_EQ(service.files.at, kService);
    EXPECT_EQ(service.files.groups.size(), 2u);
    EXPECT_THAT(service.files.groups.at(kService).enabled, testing::IsEmpty());
}

TEST(DaemonCgroup, ItStaysWithPodsThatGoOn) {
    Service service;
    auto entered = service.enter();
    ASSERT_TRUE(entered);
    service.files.enable(kService, {kMemory});
    service.files.add(kService + "/muster-up-x", true);
    service.files.enable(kService + "/muster-up-x", {kMemory});
    entered->leave();
    EXPECT_EQ(service.files.at, kService + "/muster-daemon");
}

TEST(DaemonCgroup, IsEnteredOnceAndNotFromTheRoot) {
    Service service;
    ASSERT_TRUE(service.enter());
    const std::size_t groups = service.files.groups.size();
    auto again = service.enter();
    ASSERT_TRUE(again);
    EXPECT_EQ(service.files.groups.size(), groups);
    again->leave();
    EXPECT_EQ(service.files.at, kService + "/muster-daemon") << "the one who made it leaves it";

    Service root;
    root.files.groups.at("/cg").writable = true;
    root.files.at = "/cg";
    ASSERT_TRUE(DaemonCgroup::enter(
        root.files,
        {{.version = CgroupVersion::kV2, .controllers = {}, .root = "/cg", .own = "/cg"}}));
    EXPECT_EQ(root.files.at, "/cg");
    ASSERT_TRUE(DaemonCgroup::enter(root.files, {}));
}

TEST(DaemonCgroup, InAGroupOfSomebodyElseNothingChanges) {
    Service service;
    service.files.groups.at(kService).writable = false;
    const auto refused = service.enter();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("Permission denied"));
    EXPECT_EQ(service.files.at, kService);
    EXPECT_EQ(service.files.groups.size(), 2u);
}

}  // namespace
}  // namespace muster::runtime::daemon_cgroup_test
