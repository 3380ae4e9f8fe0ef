#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/objects/pod_contract.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_lifecycle_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

/// What a kubelet does around containers, with real processes. Each test in each kind of sandbox.
class NodeLifecycleTest : public NodeTest {
  protected:
    static json::value container(const std::string& name, const std::string& script,
                                 json::object more = {}) {
        more["name"] = name;
        more["image"] = "image";
        more["command"] = json::array{"sh", "-c", script};
        return more;
    }
    /// Appends "WORD TIME" lines that the test reads in order.
    std::string mark(const std::string& word) const {
        return fmt::format("echo {} >> {}/marks; ", word, (dir / "work").string());
    }
    std::vector<std::string> marks() const {
        std::ifstream file(dir / "work/marks");
        std::vector<std::string> words;
        for (std::string word; file >> word;) words.push_back(word);
        return words;
    }
    const kube::ContainerStatus& status_of(const kube::Pod& pod, const std::string& name) {
        static const kube::ContainerStatus kNone;
        for (const auto* list :
             {&pod.status.init_container_statuses, &pod.status.container_statuses})
            for (const kube::ContainerStatus& status : *list)
                if (status.name == name) return status;
        return kNone;
    }
};

TEST_P(NodeLifecycleTest, InitContainersSidecarsAndContainersInTheirOrder) {
    start_node();
    json::object spec;
    spec["initContainers"] =
        json::array{container("first", mark("first")),
                    container("side",
                              mark("side") + "trap '" + mark("side-term") +
                                  "exit 3' TERM; while :; do sleep 0.01; done",
                              {{"restartPolicy", "Always"}}),
                    container("second", "until grep -q side " + (dir / "work/marks").string() +
                                            "; do :; done; " + mark("second"))};
    create(pod_json("ordered",
                    json::array{container("main", mark("main")), container("other", "true")},
                    std::move(spec)));
    kube::Pod pod = wait_phase("ordered", "Succeeded");
    EXPECT_THAT(marks(), ::testing::ElementsAre("first", "side", "second", "main", "side-term"));
    ASSERT_TRUE(status_of(pod, "side").state.terminated);
    EXPECT_EQ(status_of(pod, "side").state.terminated->exit_code, 3)
        << "which does not fail the pod";
    EXPECT_EQ(pod.status.container_statuses.size(), 2u);
}

TEST_P(NodeLifecycleTest, ASidecarThatDiesIsRestartedBesideTheWork) {
    start_node();
    json::object spec;
    const std::string marks_file = (dir / "work/marks").string();
    spec["initContainers"] = json::array{container(
        "side",
        mark("side") + "test $(wc -l < " + marks_file + ") -ge 2 && exec sleep 1000; exit 1",
        {{"restartPolicy", "Always"}})};
    create(pod_json("beside",
                    json::array{container(
                        "main", "until test $(wc -l < " + marks_file + ") -ge 2; do :; done")},
                    std::move(spec)));
    kube::Pod pod = wait_phase("beside", "Succeeded");
    EXPECT_EQ(status_of(pod, "side").restart_count, 1);
    EXPECT_EQ(status_of(pod, "main").restart_count, 0);
}

TEST_P(NodeLifecycleTest, TheDeadlineOfAPodEndsItForGood) {
    start_node();
    create(pod_json("late", shell("trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"),
                    {{"activeDeadlineSeconds", 60}, {"restartPolicy", "Always"}}));
    wait_for_output("late", "up\n");
    leap(60s);
    kube::Pod pod = wait_phase("late", "Failed");
    EXPECT_EQ(pod.status.reason, "DeadlineExceeded");
    ASSERT_TRUE(main_status(pod).state.terminated);
    EXPECT_EQ(main_status(pod).state.terminated->exit_code, 0);
    EXPECT_EQ(main_status(pod).restart_count, 0);
}

TEST_P(NodeLifecycleTest, TheDeadlineOfAPodPassesWhileTheMachineIsSuspended) {
    start_node();
    create(pod_json("late", shell("echo up; exec sleep 1000"), {{"activeDeadlineSeconds", 3600}}));
    wait_for_output("late", "up\n");
    node_clock.suspend(1h);
    EXPECT_EQ(wait_phase("late", "Failed").status.reason, "DeadlineExceeded");
}

TEST_P(NodeLifecycleTest, ATerminationMessageMayComeFromTheLog) {
    start_node();
    create(pod_json("logged", shell("echo out; echo err >&2; exit 1",
                                    {{"terminationMessagePolicy", "FallbackToLogsOnError"}})));
    create(pod_json("good", shell("echo out; exit 0",
                                  {{"terminationMessagePolicy", "FallbackToLogsOnError"}})));
    create(pod_json("silent", shell("echo out; exit 1")));
    EXPECT_EQ(main_status(wait_phase("logged", "Failed")).state.terminated->message, "out\nerr\n");
    EXPECT_EQ(main_status(wait_phase("good", "Succeeded")).state.terminated->message, "");
    EXPECT_EQ(main_status(wait_phase("silent", "Failed")).state.terminated->message, "");
}

TEST_P(NodeLifecycleTest, WhatEndedBeforeTheNodeBeganKeepsItsStatusAndMayGo) {
    ASSERT_TRUE(await(server->start()));
    json::value old = pod_json("old", shell("true"));
    old.at("spec").as_object()["nodeName"] = "localhost";
    create(std::move(old));
    json::value failed{{"status", {{"phase", "Failed"}, {"reason", "Evicted"}}}};
    ASSERT_TRUE(await(client->patch(kube::types::kPods, "default", "old",
                                    kube::ContentType::kMergePatch, std::move(failed), "status")));
    auto made = Node::create(context.get_executor(), *server, clock, rng, options);
    ASSERT_TRUE(made) << made.error().message();
    node = *std::move(made);
    ASSERT_TRUE(await(node->start()));
    remove("old");
    std::vector<std::string> phases;
    wait_for("old", [&](const kube::Pod* p) {
        if (p != nullptr) phases.push_back(p->status.phase + " " + p->status.reason);
        return p == nullptr;
    });
    EXPECT_THAT(phases, ::testing::Each("Failed Evicted"));
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeLifecycleTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

class NamespacedLifecycleTest : public NodeLifecycleTest {};

TEST_P(NamespacedLifecycleTest, ATerminationMessageOfEachInstance) {
    start_node();
    create(pod_json("says",
                    shell("if test -e marker; then exit 2; fi; touch marker; "
                          "echo first >/dev/termination-log; exit 1"),
                    {{"restartPolicy", "OnFailure"}}));
    auto pod = wait_for("says", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).last_state.terminated &&
               main_status(*p).last_state.terminated->exit_code == 2;
    });
    ASSERT_TRUE(pod);
    EXPECT_EQ(main_status(*pod).last_state.terminated->message, "")
        << "what the first one said is not said again";
    create(pod_json("elsewhere", shell("echo first >/muster-test/message",
                                       {{"terminationMessagePath", "/muster-test/message"}})));
    EXPECT_EQ(main_status(wait_phase("elsewhere", "Succeeded")).state.terminated->message,
              "first\n");
    create(pod_json("default", shell("echo by default >/dev/termination-log; exit 1")));
    EXPECT_EQ(main_status(wait_phase("default", "Failed")).state.terminated->message,
              "by default\n");
    EXPECT_FALSE(fs::exists("/dev/termination-log"));
    EXPECT_FALSE(fs::exists("/muster-test"));
}

TEST_P(NamespacedLifecycleTest, APodThatEndsWithoutTheFileThatItsControllerExpectsIsTold) {
    start_node();
    const auto expecting = [](const char* name, const char* script) {
        json::object more;
        more["volumeMounts"] =
            json::array{json::object{{"name", "calls"}, {"mountPath", "/muster-calls"}}};
        json::object spec;
        spec["volumes"] =
            json::array{json::object{{"name", "calls"}, {"emptyDir", json::object{}}}};
        json::value pod = pod_json(name, shell(script, std::move(more)), std::move(spec));
        json::object annotations;
        annotations[kube::kExpectedFileAnnotation] = "calls/called NoCall it called nothing";
        pod.at("metadata").as_object()["annotations"] = std::move(annotations);
        return pod;
    };
    create(expecting("called", "touch /muster-calls/called"));
    create(expecting("silent", "true"));
    create(expecting("failed", "exit 1"));
    create(expecting("gone", "while :; do sleep 1000; done"));
    wait_phase("gone", "Running");
    remove("gone", 0);
    wait_phase("called", "Succeeded");
    wait_phase("silent", "Succeeded");
    wait_phase("failed", "Failed");
    wait_for("gone", [](const kube::Pod* p) { return p == nullptr; });
    const auto told = ::testing::Contains("NoCall: it called nothing");
    EXPECT_THAT(events_of("called"), ::testing::Not(told));
    EXPECT_THAT(events_of("silent"), told);
    EXPECT_THAT(events_of("failed"), told);
    EXPECT_THAT(events_of("gone"), ::testing::Not(told));
}

TEST_P(NamespacedLifecycleTest, ADevOfThePodsOwn) {
    start_node();
    create(
        pod_json("dev", shell("touch /dev/mine; echo x >/dev/null; echo y >/dev/stdout; head -c 2 "
                              "/dev/urandom | wc -c; ls /dev | grep -c '^tty[0-9]'; python3 -c "
                              "'import os,pty; print(os.ttyname(pty.openpty()[1]))'; "
                              "test -d /dev/shm && stat -f -c %T /dev/shm")));
    wait_phase("dev", "Succeeded");
    EXPECT_EQ(logs("dev"), "y\n2\n0\n/dev/pts/0\ntmpfs\n");
    EXPECT_FALSE(fs::exists("/dev/mine"));
}

INSTANTIATE_TEST_SUITE_P(Root, NamespacedLifecycleTest,
                         ::testing::Values(SandboxMode::kNamespaces));

}  // namespace
}  // namespace muster::runtime::node_lifecycle_test
