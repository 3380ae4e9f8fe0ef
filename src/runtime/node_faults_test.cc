#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_fault.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_faults_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// An internal fault in one pod's tasks affects only this pod.
class NodeFaultsTest : public NodeTest {};

TEST_P(NodeFaultsTest, WhatFailsBeforeItHasBegunIsTriedAgain) {
    start_node();
    for (const std::string task : {"sandbox", "binding", "status of status"}) {
        const std::string name = task.substr(0, task.find(' '));
        {
            const TaskFault fault(task);
            create(pod_json(name, shell("true")));
            run_until([&] { return fault.hits() > 0; });
        }
        leap(1s);
        create(pod_json("beside-" + name, shell("true")));
        wait_phase("beside-" + name, "Succeeded");
        wait_phase(name, "Succeeded");
    }
}

// As for a missing ConfigMap: the next attempt comes after ten seconds (pod_machine_test.cc).
TEST_P(NodeFaultsTest, AContainerThatFailsBeforeItHasBegunWaitsForTheNextAttempt) {
    start_node();
    const TaskFault fault("container");
    create(pod_json("waits", shell("true")));
    wait_for("waits", [](const kube::Pod* pod) {
        return pod != nullptr && main_status(*pod).state.waiting &&
               main_status(*pod).state.waiting->reason == "CreateContainerConfigError";
    });
    EXPECT_EQ(fault.hits(), 1u);
}

TEST_P(NodeFaultsTest, APodWhoseReportsAreNotReadEndsAndSaysWhy) {
    start_node();
    {
        const TaskFault fault("reports");
        create(pod_json("deaf", shell("sleep 1000")));
        run_until([&] { return fault.hits() > 0; });
    }
    create(pod_json("beside", shell("true")));
    wait_phase("beside", "Succeeded");
    leap(1s);
    wait_for("deaf", [](const kube::Pod* pod) {
        return pod == nullptr || pod->status.phase == "Failed" || pod->status.phase == "Running";
    });
    EXPECT_THAT(events_of("deaf"), Contains(HasSubstr("InternalError: an internal error")));
}

TEST_P(NodeFaultsTest, ADeletionThatFailsIsTriedAgain) {
    start_node();
    create(pod_json("gone", shell("sleep 1000")));
    wait_phase("gone", "Running");
    {
        const TaskFault fault("deletion");
        remove("gone", 1);
        run_until([&] { return fault.hits() > 0; });
    }
    leap(1s);
    wait_for("gone", [](const kube::Pod* pod) { return pod == nullptr; });
}

TEST_P(NodeFaultsTest, WhatServesAllPodsBeginsAgain) {
    options.pods_outlive = true;
    options.logs_dir = dir / "logs";
    const TaskFault logs("retained logs");
    const TaskFault orphans("orphaned pods");
    const TaskFault lease("lease");
    start_node();
    for (const TaskFault* fault : {&logs, &orphans, &lease}) {
        run_until([&] { return fault->hits() > 0; });
        const std::size_t before = fault->hits();
        leap(1min);
        run_until([&] { return fault->hits() > before; });
    }
}

TEST_P(NodeFaultsTest, LogsAreFollowedAfterAFault) {
    {
        const TaskFault fault("logs");
        start_node();
        run_until([&] { return fault.hits() > 0; });
    }
    leap(1s);
    create(pod_json("talks", shell("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two")));
    wait_phase("talks", "Running");
    kube::LogOptions follow;
    follow.follow = true;
    follow.limit_bytes = 4;
    EXPECT_EQ(logs("talks", follow), "one\n");
    std::ofstream(dir / "work/go").close();
    follow.limit_bytes = 8;
    EXPECT_EQ(logs("talks", follow), "one\ntwo\n");
}

TEST_P(NodeFaultsTest, TheEndOfTheWayOutsideIsWatchedAfterAFault) {
    const TaskFault fault("egress");
    start_node();
    settle();
    if (fault.hits() == 0) GTEST_SKIP() << "pods have none here";
    leap(1s);
    run_until([&] { return fault.hits() > 1; });
}

// Without a change of another pod.
TEST_P(NodeFaultsTest, WhatFailsForAWaitingPodIsTriedAgain) {
    start_node();
    for (const std::string task : {"scheduler", "binding"}) {
        {
            const TaskFault fault(task);
            create(pod_json(task, shell("true")));
            run_until([&] { return fault.hits() > 0; });
        }
        leap(10s);
        wait_phase(task, "Succeeded");
    }
    const json::value large{{"requests", {{"cpu", "1000"}}}};
    {
        const TaskFault fault("unschedulable");
        create(pod_json("large", shell("true", {{"resources", large}})));
        run_until([&] { return fault.hits() > 0; });
    }
    leap(10s);
    wait_for("large", [](const kube::Pod* pod) {
        return pod != nullptr && !pod->status.conditions.empty() &&
               pod->status.conditions[0].reason == "Unschedulable";
    });
}

TEST_P(NodeFaultsTest, ThatAPodWithoutANodeCouldNotBeRemovedIsTriedAgain) {
    start_node();
    const json::value large{{"requests", {{"cpu", "1000"}}}};
    json::value pod = pod_json("large", shell("true", {{"resources", large}}));
    pod.at("metadata").as_object()["finalizers"] = json::array{"example.com/kept"};
    create(std::move(pod));
    const TaskFault fault("removal");
    remove("large");
    run_until([&] { return fault.hits() > 0; });
    leap(10s);
    run_until([&] { return fault.hits() > 1; });
}

TEST_P(NodeFaultsTest, TheRestOfAPodThatCouldNotBeEndedIsEndedLater) {
    start_node();
    create(pod_json("gone", shell("sleep 1000")));
    wait_phase("gone", "Running");
    const TaskFault fault("end of a pod");
    remove("gone", 0);
    run_until([&] { return fault.hits() > 0; });
    leap(10s);
    run_until([&] { return fault.hits() > 1; });
}

TEST_P(NodeFaultsTest, NamesThatCouldNotBeWrittenAreWrittenLater) {
    start_node();
    const TaskFault fault("hosts files");
    create(pod_json("first", shell("sleep 1000")));
    wait_phase("first", "Running");
    create(pod_json("second", shell("sleep 1000")));
    run_until([&] { return fault.hits() > 0; });
    const std::size_t before = fault.hits();
    leap(10s);
    run_until([&] { return fault.hits() > before; });
}

/// Only there are volumes mounted.
class NamespacedNodeFaultsTest : public NodeTest {};

TEST_P(NamespacedNodeFaultsTest, TokensAreRenewedAfterAFault) {
    server = std::make_unique<apiserver::ApiServer>(
        context.get_executor(), node_clock, rng, store::make_memory_store(),
        apiserver::ApiServerOptions{
            .signing_key = *net::SigningKey::parse(*net::make_signing_key()), .root_ca_pem = "CA"});
    client = std::make_unique<kube::Client>(*server);
    options.server = ServerAddress{"127.0.0.1", 6443};
    start_node();
    {
        const TaskFault fault("tokens");
        create(pod_json("waits",
                        shell("d=/var/run/secrets/kubernetes.io/serviceaccount; "
                              "cp $d/token first && echo up && until ! cmp -s $d/token first; do "
                              "sleep 0.01; done"),
                        {{"restartPolicy", "Never"}}));
        wait_for_output("waits", "up\n");
        run_until([&] { return fault.hits() > 0; });
    }
    leap(1s);
    leap(50min);
    wait_phase("waits", "Succeeded");
    EXPECT_THAT(events_of("waits"),
                Contains(HasSubstr("renewing tokens failed and is tried again")));
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeFaultsTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);
INSTANTIATE_TEST_SUITE_P(Root, NamespacedNodeFaultsTest,
                         ::testing::Values(SandboxMode::kNamespaces));

}  // namespace
}  // namespace muster::runtime::node_faults_test
