#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "operator/internal/planning/planner.h"
#include "operator/internal/scaling/scale_fixture.h"

// Replicas that ran out of memory: the status that says who follows them says with how much.

namespace muster::operators::planner_memory_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr WallTime kTime{std::chrono::seconds(1'767'225'700)};
const std::string kBegan = "2026-01-01T00:00:00Z";

std::string type_with(const std::string& type, int replicas, const std::string& resources) {
    return fmt::format(R"("{}": {{"replicas": {}, "template": {{"spec": {{"containers": [
        {{"name": "main", "image": "x", "command": ["train"], "resources": {}}}]}}}}}})",
                       type, replicas, resources);
}

const std::string kTwoGibibytes = R"({"limits": {"memory": "2Gi"}})";

class PlannerMemory : public ::testing::Test {
  protected:
    /// Two parameter servers, a chief and a worker. `members`: of the servers.
    void make(const std::string& of_servers, const std::string& more_spec = {},
              const std::string& members = R"({"ids": "0-1", "next": 2})",
              const std::string& annotations = "{}") {
        json::value object = elastic_object(type_with("ps", 2, of_servers) + "," +
                                                type_with("chief", 1, kTwoGibibytes) + "," +
                                                type_with("worker", 1, kTwoGibibytes),
                                            more_spec);
        object.at("metadata").as_object()["annotations"] = json::parse(annotations);
        job = elastic_record(object, fmt::format(R"({{
            "dlrover-master": {{"ids": "0", "next": 1}}, "chief": {{"ids": "0", "next": 1}},
            "worker": {{"ids": "0", "next": 1}}, "ps": {}}})",
                                                 members));
        ASSERT_NE(job->facts, nullptr) << (job->problem ? job->problem->message() : "");
        status = job->status.unpack();
    }
    /// `state`: of its container.
    void pod(const std::string& type, int id, const std::string& phase, const std::string& state,
             const std::string& resources = kTwoGibibytes, const std::string& annotations = "{}") {
        json::value object = json::parse(fmt::format(
            R"({{"metadata": {{"name": "demo-edljob-{0}-{1}", "namespace": "default",
                "uid": "{0}{1}", "creationTimestamp": "{6}", "annotations": {5},
                "ownerReferences": [{{"kind": "ElasticJob", "name": "demo", "uid": "job-uid",
                                     "controller": true}}],
                "labels": {{"training.kubeflow.org/operator-name": "elasticjob-controller",
                           "training.kubeflow.org/job-name": "demo",
                           "training.kubeflow.org/replica-type": "{0}",
                           "training.kubeflow.org/replica-index": "{1}"}}}},
               "spec": {{"containers": [{{"name": "main", "resources": {4}}}]}},
               "status": {{"phase": "{2}", "containerStatuses": [
                   {{"name": "main", "state": {3}}}]}}}})",
            type, id, phase, state, resources, annotations, kBegan));
        const PodPtr seen = project_pod(object).value();
        dependents.apply(nullptr, &seen);
    }
    void run(const std::string& type, int id) { pod(type, id, "Running", R"({"running": {}})"); }
    void fail(int id, const std::string& reason = "OOMKilled", int code = 137,
              const std::string& resources = kTwoGibibytes, const std::string& annotations = "{}") {
        pod("ps", id, "Failed",
            fmt::format(R"({{"terminated": {{"exitCode": {}, "reason": "{}",
                           "finishedAt": "{}"}}}})",
                        code, reason, kBegan),
            resources, annotations);
    }
    void run_others() {
        run("dlrover-master", 0);
        run("chief", 0);
        run("worker", 0);
    }
    Plan made() {
        dependents.configure(job->facts, status);
        return plan(*job, status, dependents, {}, kTime);
    }
    /// "2-3 | 1:4Gi": the ids of the servers and what ranks have of their own.
    static std::string servers(const Plan& plan) {
        if (!plan.status) return "unchanged";
        const jobs::ReplicaMembers& members = plan.status->members.at("ps");
        std::string text = members.ids + " |";
        for (const auto& [rank, own] : members.resources)
            text += fmt::format(" {}:{}", rank, own.resource.at("memory").as_string().c_str());
        return text;
    }
    static std::string told(const Plan& plan) {
        for (const JobEvent& event : plan.events)
            if (event.reason == "JobOutOfMemory") return event.message;
        return {};
    }
    static std::string restarting(const Plan& plan) {
        for (const jobs::JobCondition& one : plan.status->conditions)
            if (one.type == "Restarting") return one.message;
        return {};
    }

    JobPtr job;
    jobs::JobStatus status;
    Dependents dependents;
};

TEST_F(PlannerMemory, IsRaisedInTheWriteThatCountsTheRestart) {
    make(kTwoGibibytes);
    run_others();
    run("ps", 0);
    fail(1);
    const Plan first = made();
    EXPECT_EQ(servers(first), "0,2 | 1:4Gi");
    EXPECT_EQ(first.status->replica_statuses.at("ps").restarts, 1);
    const std::string said = "demo-edljob-ps-1 ran out of 2Gi of memory: the pod after it has 4Gi.";
    EXPECT_EQ(told(first), said);
    EXPECT_EQ(restarting(first), "job demo is restarting because ps replica(s) failed. " + said);
    const jobs::OwnResources& own = first.status->members.at("ps").resources.at("1");
    EXPECT_EQ(own.instead_of.at("memory"), json::value("2Gi"));

    // From that status on the pod is another one, and what failed is not counted again.
    status = *first.status;
    const Plan second = made();
    ASSERT_FALSE(second.create_pods.empty());
    const PodCreation& creation = second.create_pods.front();
    EXPECT_EQ(creation.slot, (SlotId{1, 2}));
    EXPECT_EQ(creation.own, (kube::ResourceList{{"memory", json::value("4Gi")}}));
    if (second.status) EXPECT_EQ(servers(second), "0,2 | 1:4Gi");
    EXPECT_EQ(told(second), "");
}

TEST_F(PlannerMemory, WhatDecides) {
    struct Row {
        const char* name;
        std::function<void()> happens;
        std::string servers;
        std::string told;
    };
    const std::string one_gibibyte = R"({"requests": {"memory": "1Gi"}})";
    for (const Row& row : std::vector<Row>{
             {"another failure", [&] { fail(1, "Error", 1); }, "0,2 |", ""},
             {"a kill", [&] { fail(1, "Error", 137); }, "0,2 |", ""},
             {"upstream's exit code", [&] { fail(1, "Error", 247); }, "0,2 | 1:4Gi", "has 4Gi."},
             {"of what the pod requested",
              [&] { fail(1, "OOMKilled", 137, R"({"requests": {"memory": "2Gi"}})"); },
              "0,2 | 1:4Gi", "ran out of 2Gi"},
             {"a pod that had less than the template has by now",
              [&] { fail(1, "OOMKilled", 137, one_gibibyte); }, "0,2 |",
              "ran out of 1Gi of memory: the pod after it has 2Gi in any case."},
             {"a pod that had no limit", [&] { fail(1, "OOMKilled", 137, "{}"); }, "0,2 |",
              "nothing is raised without a request or limit"},
         }) {
        SCOPED_TRACE(row.name);
        dependents = Dependents();
        make(kTwoGibibytes);
        run_others();
        run("ps", 0);
        row.happens();
        const Plan plan = made();
        EXPECT_EQ(servers(plan), row.servers);
        EXPECT_THAT(told(plan), HasSubstr(row.told));
        if (row.told.empty()) EXPECT_EQ(told(plan), "");
    }
}

TEST_F(PlannerMemory, IsRaisedFromWhatItsRankHas) {
    make(kTwoGibibytes, {}, R"({"ids": "0,2", "ranks": {"2": 1}, "next": 3, "resources": {
        "1": {"resource": {"cpu": "3", "memory": "4Gi"}, "insteadOf": {"memory": "2Gi"}}}})");
    run_others();
    run("ps", 0);
    fail(2, "OOMKilled", 137, R"({"limits": {"memory": "4Gi"}})");
    const Plan plan = made();
    EXPECT_EQ(servers(plan), "0,3 | 1:8Gi");
    EXPECT_EQ(plan.status->members.at("ps").resources.at("1").resource.at("cpu"), json::value("3"));
}

TEST_F(PlannerMemory, TheJobsLimitHolds) {
    // Two servers, chief and worker have 8 GiB.
    const auto limited = [&](const std::string& limit, const std::string& members) {
        dependents = Dependents();
        make(kTwoGibibytes, fmt::format(R"("resourceLimits": {{"memory": "{}"}},)", limit),
             members);
        run_others();
        fail(0);
        fail(1);
        return made();
    };
    const std::string plain = R"({"ids": "0-1", "next": 2})";
    EXPECT_EQ(servers(limited("12Gi", plain)), "2-3 | 0:4Gi 1:4Gi");
    const Plan less = limited("11Gi", plain);
    EXPECT_EQ(servers(less), "2-3 | 0:4Gi 1:3Gi");
    const Plan none = limited("8Gi", plain);
    EXPECT_EQ(servers(none), "2-3 |");
    EXPECT_THAT(told(none), HasSubstr("the job may not request more: raise "
                                      "spec.resourceLimits.memory"));
    // What others have of their own counts.
    EXPECT_EQ(servers(limited("10Gi", R"({"ids": "0-1", "next": 2, "resources": {
                  "1": {"resource": {"memory": "3Gi"}, "insteadOf": {"memory": "2Gi"}}}})")),
              "2-3 | 0:3Gi 1:3Gi");
}

TEST_F(PlannerMemory, TheMostThatAReplicaIsGiven) {
    const std::string most = R"({"limits": {"memory": "64Gi"}})";
    make(most);
    run_others();
    run("ps", 0);
    fail(1, "OOMKilled", 137, most);
    const Plan plan = made();
    EXPECT_EQ(servers(plan), "0,2 |");
    EXPECT_THAT(told(plan), HasSubstr("none gets more than 64Gi"));
}

TEST_F(PlannerMemory, AfterAPauseItIsToldInTheConditionThatStands) {
    make(kTwoGibibytes);
    status.conditions.push_back({.type = "Restarting",
                                 .status = "True",
                                 .reason = "JobRestarting",
                                 .message = "it pauses",
                                 .last_update_time = kBegan,
                                 .last_transition_time = kBegan});
    run_others();
    run("ps", 0);
    fail(1);
    const Plan plan = made();
    EXPECT_THAT(restarting(plan), HasSubstr("ran out of 2Gi of memory"));
    const auto stands =
        std::ranges::find(plan.status->conditions, "Restarting", &jobs::JobCondition::type);
    EXPECT_EQ(stands->last_transition_time, kBegan);
}

TEST_F(PlannerMemory, AJobThatRestartsTogetherGetsMore) {
    make(kTwoGibibytes, {}, R"({"ids": "0-1", "next": 2})", R"({"muster.dev/restart": "group"})");
    run_others();
    run("ps", 0);
    fail(1);
    const Plan first = made();
    EXPECT_EQ(servers(first), "0-1 | 1:4Gi");
    EXPECT_EQ(first.status->restart_generation, 1);
    EXPECT_THAT(restarting(first), HasSubstr("ran out of 2Gi of memory"));
    status = *first.status;
    const Plan second = made();
    EXPECT_EQ(second.status ? servers(second) : "0-1 | 1:4Gi", "0-1 | 1:4Gi")
        << "the same failure counts once";
}

TEST_F(PlannerMemory, APodThatIsGoneIsRemembered) {
    make(kTwoGibibytes);
    run_others();
    run("ps", 0);
    fail(1);
    dependents.configure(job->facts, status);
    const PodPtr gone = dependents.at({1, 1})->pod;
    dependents.apply(&gone, nullptr);
    const Plan plan = made();
    EXPECT_EQ(servers(plan), "0,2 | 1:4Gi");
    EXPECT_THAT(told(plan), HasSubstr("has 4Gi"));
}

TEST_F(PlannerMemory, APlanWaitsForTheStatusThatHasIt) {
    make(kTwoGibibytes, R"("resourceLimits": {"memory": "10Gi"},)");
    run_others();
    run("ps", 0);
    fail(1);
    const jobs::ScalePlanReview review =
        jobs::review_scale_plan(plan_object("p", R"("createPods": [{"type": "ps"}])"));
    const Result<ScaleOrder> order = order_of(review.plan.spec, "u", 3, *job, status);
    dependents.configure(job->facts, status);
    const Plan first = plan(*job, status, dependents, {}, kTime, {}, &*order);
    EXPECT_EQ(servers(first), "0,2 | 1:4Gi");
    EXPECT_FALSE(first.status->plan.has_value()) << "both together are above the limit";
    EXPECT_TRUE(first.more);
}

TEST_F(PlannerMemory, AnEditOfTheTemplateEndsIt) {
    const std::string members = R"({"ids": "0-1", "next": 2, "resources": {
        "1": {"resource": {"cpu": "3", "memory": "4Gi"}, "insteadOf": {"memory": "2Gi"}}}})";
    make(R"({"limits": {"memory": "3Gi"}})", {}, members);
    run_others();
    const Plan plan = made();
    ASSERT_TRUE(plan.status.has_value());
    const std::map<std::string, jobs::OwnResources>& left = plan.status->members.at("ps").resources;
    EXPECT_EQ(left.at("1").resource, (kube::ResourceList{{"cpu", json::value("3")}}));
    EXPECT_THAT(left.at("1").instead_of, IsEmpty());
    for (const PodCreation& creation : plan.create_pods)
        EXPECT_FALSE(creation.own.contains("memory")) << "also of a pod that is made now";
    make(R"({"limits": {"memory": "3Gi", "cpu": "1"}})", {}, members);
    EXPECT_EQ(servers(made()), "0-1 |");
}

TEST_F(PlannerMemory, OfJobsWithoutParameterServersNothingChanges) {
    json::value object = elastic_object(type_with("worker", 1, kTwoGibibytes));
    job = elastic_record(object, R"({"dlrover-master": {"ids": "0", "next": 1},
                                     "worker": {"ids": "0", "next": 1}})");
    status = job->status.unpack();
    run("dlrover-master", 0);
    pod("worker", 0, "Failed", R"({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})");
    const Plan plan = made();
    EXPECT_EQ(plan.status->members.at("worker").ids, "1");
    EXPECT_THAT(plan.status->members.at("worker").resources, IsEmpty());
    EXPECT_EQ(told(plan), "");
}

}  // namespace
}  // namespace muster::operators::planner_memory_test
