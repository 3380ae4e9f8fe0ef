// What a node that begins again shows of the logs that pods left in its logs directory.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_logs_test {
namespace {

using ::testing::HasSubstr;

class NodeLogsTest : public NodeTest {
  protected:
    void SetUp() override {
        NodeTest::SetUp();
        if (IsSkipped()) return;
        options.logs_dir = dir / "logs";
        start_node();
    }
    /// The node ends with its pods, and another one begins with the same objects and files. It knows
    /// all pods once one that is new has ended.
    void begin_again() {
        await(node->stop());
        logs_of_node.reset();
        node.reset();
        auto made = Node::create(context.get_executor(), *server, clock, rng, options);
        ASSERT_TRUE(made) << made.error().message();
        node = *std::move(made);
        logs_of_node = std::make_unique<Logs>(*node);
        server->connect_node(*logs_of_node);
        auto running = await(node->start());
        ASSERT_TRUE(running) << running.error().message();
        create(pod_json("new", shell("true")));
        wait_phase("new", "Succeeded");
    }
    std::string previous(const std::string& pod) {
        kube::LogOptions earlier;
        earlier.previous = true;
        return logs(pod, earlier);
    }
};

TEST_P(NodeLogsTest, APodThatEndedBeforeIsStillRead) {
    create(pod_json("twice",
                    shell("test -e again && exec echo second; touch again; echo first; exit 5"),
                    {{"restartPolicy", "OnFailure"}}));
    create(pod_json("once", shell("echo only")));
    wait_phase("twice", "Succeeded");
    wait_phase("once", "Succeeded");
    begin_again();
    EXPECT_EQ(logs("twice"), "second\n");
    EXPECT_EQ(previous("twice"), "first\n");
    EXPECT_EQ(logs("once"), "only\n");
    EXPECT_THAT(previous("once"),
                HasSubstr("previous terminated container \"main\" in pod \"once\" not found"));
    kube::LogOptions other;
    other.container = "../main";
    EXPECT_THAT(logs("once", other), HasSubstr("container ../main is not valid for pod once"));
    kube::LogOptions followed;
    followed.follow = true;
    followed.tail_lines = 1;
    EXPECT_EQ(logs("once", followed), "only\n");
}

TEST_P(NodeLogsTest, APodThatIsStartedAgainKeepsWhatItWroteBefore) {
    ASSERT_EQ(::mkfifo((dir / "work/fifo").c_str(), 0600), 0);
    create(pod_json("goes",
                    shell("test -e again && exec echo second; touch again; echo first; "
                          "cat fifo"),
                    {{"restartPolicy", "OnFailure"}}));
    wait_phase("goes", "Running");
    kube::LogOptions follow;
    follow.follow = true;
    follow.limit_bytes = 6;
    ASSERT_EQ(logs("goes", follow), "first\n");
    begin_again();
    wait_phase("goes", "Succeeded");
    EXPECT_EQ(logs("goes"), "second\n");
    EXPECT_EQ(previous("goes"), "first\n");
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeLogsTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

}  // namespace
}  // namespace muster::runtime::node_logs_test
