#include "cli/internal/runs/run_table.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "cli/internal/runs/why_text.h"

namespace muster::cli::run_table_test {
namespace {

using testing::HasSubstr;

WallTime at(int seconds) { return WallTime(std::chrono::seconds(1'700'000'000 + seconds)); }

json::value job(std::string_view conditions, std::string_view status = "") {
    return json::parse(
        std::string(
            R"({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "digits", "namespace": "ml",
        "uid": "u", "creationTimestamp": "2023-11-14T22:13:20Z"}, "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1}}},
        "status": {"conditions": [)") +
        std::string(conditions) + "]" + std::string(status) + "}}");
}

std::string condition(std::string_view type) {
    return std::string(R"({"type": ")") + std::string(type) +
           R"(", "status": "True", "reason": "R", "message": "M"})";
}

TEST(RunTable, TheStateOfAServersJob) {
    struct Case {
        std::string conditions;
        std::string state;
        bool alive;
    };
    for (const Case& one :
         {Case{"", "pending", true}, Case{condition("Created"), "created", true},
          Case{condition("Created") + "," + condition("Running"), "running", true},
          Case{condition("Suspended"), "suspended", true},
          Case{condition("Succeeded"), "succeeded", false},
          Case{condition("Failed"), "failed", false}}) {
        const auto row = row_of(job(one.conditions), "muster up");
        ASSERT_TRUE(row);
        EXPECT_EQ(row->state, one.state);
        EXPECT_EQ(row->alive, one.alive);
        EXPECT_EQ(row->name, "ml/digits");
        EXPECT_FALSE(row->is_run);
    }
}

TEST(RunTable, RunsInATable) {
    FoundRun ended;
    ended.record.name = "a-1";
    ended.record.subjects = {{"PyTorchJob", "default", "a"}, {"TFJob", "default", "b"}};
    ended.record.started = at(0);
    ended.record.end =
        RunEnd{.at = at(90), .status = 7, .result = "failed", .why = {}, .restarts = 2, .bytes = 0};
    FoundRun alive = ended;
    alive.record.name = "a-2";
    alive.record.end.reset();
    alive.record.on_cluster = true;
    alive.record.context = "prod";
    alive.alive = true;
    FoundRun unreadable;
    unreadable.record.name = "c-1";
    std::vector<RunRow> rows = {row_of(ended), row_of(unreadable), row_of(alive)};
    sort_rows(rows);
    EXPECT_EQ(TableWriter({}).write(run_table(rows, at(300))),
              "NAME   KIND            WHERE          STATE     RESTARTS   STARTED   TOOK   EXIT\n"
              "a-2    PyTorchJob +1   context prod   running   0          5m ago    5m     -\n"
              "a-1    PyTorchJob +1   here           failed    2          5m ago    90s    7\n"
              "c-1    -               here           lost      0          -         -      -\n");
    const json::array printed = json::parse(rows_json(rows)).as_array();
    EXPECT_EQ(printed.size(), 3U);
    EXPECT_EQ(printed[1].at("exitStatus").as_int64(), 7);
    EXPECT_TRUE(printed[2].at("started").is_null());
    EXPECT_EQ(rows_json({}), "[]\n");
}

kube::ObjectPtr shared(json::value value) {
    return std::make_shared<const json::value>(std::move(value));
}

json::value pod(std::string_view status) {
    return json::parse(
        std::string(
            R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "digits-master-0", "namespace": "ml", "uid": "p",
        "labels": {"training.kubeflow.org/job-name": "digits"}, "ownerReferences": [{"uid": "u", "controller": true, "kind": "PyTorchJob"}]},
        "spec": {"containers": [{"name": "pytorch"}]}, "status": )") +
        std::string(status) + "}");
}

TEST(WhyText, OfAJobThatFailed) {
    RunObjects objects;
    objects.jobs = {shared(
        job(condition("Failed"),
            R"(, "startTime": "2023-11-14T22:13:20Z", "completionTime": "2023-11-14T22:13:30Z")"))};
    objects.pods = {shared(
        pod(R"({"phase": "Failed", "containerStatuses": [{"name": "pytorch", "restartCount": 0,
        "state": {"terminated": {"exitCode": 7, "reason": "Error"}}}]})"))};
    const std::string text = why_text(objects);
    EXPECT_THAT(text, HasSubstr("PyTorchJob ml/digits failed after 10.0 s"));
    EXPECT_THAT(text, HasSubstr("container pytorch exited with code 7"));
}

TEST(WhyText, OfOneThatWaits) {
    RunObjects objects;
    objects.jobs = {shared(job(condition("Created")))};
    objects.pods = {shared(pod(
        R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu."}]})"))};
    EXPECT_THAT(why_text(objects), HasSubstr("it waits: 1 of 1 pods have no node: Unschedulable: "
                                             "0/1 nodes are available: 1 Insufficient cpu."));
    EXPECT_EQ(why_text({}), "");
}

TEST(WhyText, OfOneThatRunsWithoutSomeOfItsPods) {
    RunObjects objects;
    objects.jobs = {shared(job(
        R"({"type": "Running", "status": "True", "message": "runs"},
           {"type": "Incomplete", "status": "True", "message": "1 of 2 Worker pods (w-1) can't be scheduled"})"))};
    EXPECT_THAT(why_text(objects),
                HasSubstr("  it is incomplete: 1 of 2 Worker pods (w-1) can't be scheduled\n"));
}

TEST(WhyText, OfRestarts) {
    RunObjects objects;
    objects.jobs = {
        shared(job(condition("Running"), R"(, "replicaStatuses": {"Master": {"active": 1}})"))};
    objects.pods = {shared(pod(
        R"({"phase": "Running", "containerStatuses": [{"name": "pytorch", "restartCount": 2, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled"}}}]})"))};
    EXPECT_THAT(why_text(objects), HasSubstr("pod digits-master-0, container pytorch: 2 restarts, "
                                             "the last because it was killed by SIGKILL"));
}

}  // namespace
}  // namespace muster::cli::run_table_test
