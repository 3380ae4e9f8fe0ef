#include <gmock/gmock.h>

#include "runtime/internal/node_fixture.h"

// What injected faults do to real processes.

namespace muster::runtime::node_fault_injection_test {
namespace {

using ::testing::HasSubstr;

class NodeFaultInjectionTest : public NodeTest {
  protected:
    /// A pod whose program has said "ready".
    void begin(const std::string& script) {
        start_node();
        create(pod_json("p", shell(script)));
        wait_phase("p", "Running");
        kube::LogOptions follow;
        follow.container = "main";
        follow.follow = true;
        auto stream = await(client->logs("default", "p", follow));
        ASSERT_TRUE(stream) << stream.error().message();
        std::string text;
        while (text.find("ready") == text.npos) {
            auto piece = await((*stream)->read());
            ASSERT_TRUE(piece && *piece) << "the program ended after " << text;
            text += **piece;
        }
    }
    int exit_code() {
        const kube::Pod pod = wait_for("p", [](const kube::Pod* p) {
                                  return p != nullptr && (p->status.phase == "Succeeded" ||
                                                          p->status.phase == "Failed");
                              }).value();
        const auto& terminated = main_status(pod).state.terminated;
        return terminated ? terminated->exit_code.value_or(-1) : -1;
    }
    static char state_of(pid_t pid) {
        std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
        std::string line;
        std::getline(file, line);
        const std::size_t end = line.rfind(") ");
        return end == line.npos ? '-' : line[end + 2];
    }
};

constexpr const char* kPatient = "trap 'exit 3' HUP; echo ready; sleep 1000 & wait";

TEST_P(NodeFaultInjectionTest, ASignalReachesTheProgram) {
    begin(kPatient);
    const auto sent = node->signal("default", "p", {.number = SIGHUP, .rank = {}});
    ASSERT_TRUE(sent) << sent.error().message();
    EXPECT_GT(*sent, 0);
    EXPECT_EQ(exit_code(), 3);
}

TEST_P(NodeFaultInjectionTest, AKillTakesTheWholePod) {
    begin(kPatient);
    ASSERT_TRUE(node->signal("default", "p", {}));
    EXPECT_EQ(exit_code(), 137);
}

TEST_P(NodeFaultInjectionTest, ARankIsTheWorkerBelowAndNotWhatItStarted) {
    begin(
        "RANK=3 LOCAL_RANK=0 sh -c 'echo ready; sleep 1000 & wait' &\n"
        "wait $!; echo the rank ended by $?");
    const auto missing = node->signal("default", "p", {.number = SIGKILL, .rank = 4});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), Code::kNotFound);
    EXPECT_THAT(missing.error().message(), HasSubstr("no rank 4; it has 3"));
    const auto sent = node->signal("default", "p", {.number = SIGKILL, .rank = 3});
    ASSERT_TRUE(sent) << sent.error().message();
    EXPECT_EQ(exit_code(), 0);
    EXPECT_THAT(logs("p"), HasSubstr("the rank ended by 137"));
}

TEST_P(NodeFaultInjectionTest, APodWithoutRanksSaysSo) {
    begin(kPatient);
    const auto missing = node->signal("default", "p", {.number = SIGKILL, .rank = 0});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), HasSubstr("no process of pod p is a worker"));
}

TEST_P(NodeFaultInjectionTest, APausedPodStandsStillWithAllOfItsProcessesAndGoesOn) {
    begin(kPatient);
    const pid_t program = node->signal("default", "p", {.number = 0, .rank = {}}).value();
    ASSERT_TRUE(node->begin_fault("default", "p", PodFault::kPause));
    // A process stops when it next runs, which is soon.
    while (state_of(program) != 'T') ASSERT_NE(state_of(program), '-');
    const auto again = node->begin_fault("default", "p", PodFault::kPause);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Code::kAlreadyExists);
    ASSERT_TRUE(node->signal("default", "p", {.number = SIGHUP, .rank = {}}));
    EXPECT_EQ(state_of(program), 'T') << "what it was told waits";
    ASSERT_TRUE(node->end_fault("default", "p", PodFault::kPause));
    EXPECT_EQ(exit_code(), 3);
}

TEST_P(NodeFaultInjectionTest, WhoHasEndedOrIsNotThereIsRefused) {
    begin(kPatient);
    ASSERT_TRUE(node->signal("default", "p", {}));
    EXPECT_EQ(exit_code(), 137);
    for (const PodFault fault : {PodFault::kPause, PodFault::kPartition}) {
        const auto ended = node->begin_fault("default", "p", fault);
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().code(), Code::kUnavailable);
        const auto missing = node->begin_fault("default", "q", fault);
        ASSERT_FALSE(missing);
        EXPECT_EQ(missing.error().code(), Code::kNotFound);
        EXPECT_TRUE(node->end_fault("default", "q", fault));
    }
}

TEST_P(NodeFaultInjectionTest, APodWithoutANetworkOfItsOwnCantBeCutOff) {
    begin(kPatient);
    const auto cut = node->begin_fault("default", "p", PodFault::kPartition);
    if (namespaces()) {
        EXPECT_TRUE(cut);
        EXPECT_TRUE(node->end_fault("default", "p", PodFault::kPartition));
        return;
    }
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code(), Code::kUnsupported);
    EXPECT_THAT(cut.error().message(), HasSubstr("can be cut off"));
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeFaultInjectionTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

}  // namespace
}  // namespace muster::runtime::node_fault_injection_test
