#include <gmock/gmock.h>

#include "process/cgroup_fixture.h"
#include "runtime/internal/sandbox/sandbox_fixture.h"

namespace muster::runtime::sandbox_group_test {
namespace {

using ::testing::EndsWith;

/// A container whose program is cloned into its group, as with a version 2 tree.
class SandboxGroupTest : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        if (!group.made()) GTEST_SKIP() << "no group of version 2 can be made here";
        directory = group.open();
        start_pod();
    }
    Ended run_in_group(const pod_init::ContainerStart& start) {
        const std::array groups{directory.get()};
        EXPECT_TRUE(sandbox->start_container(start, log_dir.get(), groups));
        pod_init::Report report = next();
        if (report.kind == pod_init::Report::Kind::kStarted) report = next();
        EXPECT_EQ(report.id, start.id);
        return {report.kind, report.value, report.stage, report.text, log_of(start)};
    }

    process::Version2TestGroup group;  ///< outlives the sandbox, whose end TearDown() awaits
    UniqueFd directory;
};

TEST_P(SandboxGroupTest, TheProgramIsInItsGroupAndItsSupervisorIsNot) {
    const pod_init::ContainerStart start =
        shell("grep ^0:: /proc/self/cgroup; grep ^0:: /proc/$PPID/cgroup; exit 7");
    const Ended ended = run_in_group(start);
    EXPECT_EQ(ended.kind, pod_init::Report::Kind::kExited) << ended.detail;
    EXPECT_EQ(WEXITSTATUS(ended.status), 7);
    const std::size_t line = ended.output.find('\n');
    EXPECT_THAT(ended.output.substr(0, line), EndsWith(group.path().filename().string()));
    EXPECT_EQ(ended.output.find(group.path().filename().string(), line), std::string::npos);
}

TEST_P(SandboxGroupTest, WhyAProgramCantStartComesBackFromTheGroup) {
    pod_init::ContainerStart missing = shell("");
    missing.argv = {"no-such-program"};
    EXPECT_EQ(run_in_group(missing).stage, pod_init::StartStage::kProgramMissing);
    pod_init::ContainerStart nowhere = shell("true");
    nowhere.working_dir = "/no/such/dir";
    EXPECT_EQ(run_in_group(nowhere).stage, pod_init::StartStage::kWorkingDir);
    pod_init::ContainerStart nobody = shell("true");
    nobody.identity.groups.emplace(70'000, 1);  // more than a process may have
    const Ended refused = run_in_group(nobody);
    EXPECT_EQ(refused.stage, pod_init::StartStage::kIdentity);
    EXPECT_EQ(refused.detail, "taking its groups");
}

TEST_P(SandboxGroupTest, WhatForksForEverEndsWithTheMainProcess) {
    const Ended ended =
        run_in_group(shell("more() { more & sleep 1; more & wait; }; (more &); exit 3"));
    EXPECT_EQ(WEXITSTATUS(ended.status), 3);
    EXPECT_EQ(process::content_of(group.path() / "cgroup.procs"), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, SandboxGroupTest, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Namespaces" : "Shared"; });

}  // namespace
}  // namespace muster::runtime::sandbox_group_test
