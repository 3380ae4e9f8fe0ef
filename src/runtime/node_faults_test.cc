#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_fault.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime {
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

INSTANTIATE_TEST_SUITE_P(Modes, NodeFaultsTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

}  // namespace
}  // namespace muster::runtime
