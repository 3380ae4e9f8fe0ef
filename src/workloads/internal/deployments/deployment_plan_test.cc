#include "workloads/internal/deployments/deployment_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "kube/values/time.h"
#include "workloads/internal/deployments/deployment_conditions.h"
#include "workloads/internal/deployments/rollout_limits.h"
#include "workloads/internal/deployments/rollout_set.h"

namespace muster::workloads::deployment_plan_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

json::object object(std::string_view text) { return kube::read_json(text).value().as_object(); }

json::object deployment(std::int64_t replicas, std::string_view spec = "",
                        std::string_view status = "") {
    return object(fmt::format(
        R"({{"metadata":{{"name":"d","namespace":"n","uid":"u","generation":1}},"spec":{{
           "replicas":{},"progressDeadlineSeconds":600,"strategy":{{"type":"RollingUpdate",
           "rollingUpdate":{{"maxSurge":"25%","maxUnavailable":"25%"}}}},"selector":{{"matchLabels":
           {{"app":"d"}}}},"template":{{"metadata":{{"labels":{{"app":"d"}}}},"spec":{{"a":"new"}}}}
           {}{}}},"status":{{{}}}}})",
        replicas, spec.empty() ? "" : ",", spec, status));
}

/// A ReplicaSet with so many wanted pods, of which so many are there and available.
struct SetSketch {
    std::string name;
    std::int64_t wanted = 0;
    std::int64_t available = 0;
    std::int64_t revision = 1;
    std::int64_t desired = 4;  ///< what the Deployment wanted when it was scaled
    std::string of = "old";    ///< its template
    std::int64_t max = 5;
};
json::object replica_set(const SetSketch& sketch) {
    return object(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}","creationTimestamp":
           "2026-01-02T00:00:0{1}Z","annotations":{{"deployment.kubernetes.io/revision":"{1}",
           "deployment.kubernetes.io/desired-replicas":"{4}","deployment.kubernetes.io/max-replicas":
           "{6}"}}}},"spec":{{"replicas":{2},"template":{{"metadata":{{"labels":{{"app":"d",
           "pod-template-hash":"h"}}}},"spec":{{"a":"{5}"}}}}}},"status":{{"replicas":{2},
           "readyReplicas":{3},"availableReplicas":{3}}}}})",
        sketch.name, sketch.revision, sketch.wanted, sketch.available, sketch.desired, sketch.of,
        sketch.max));
}

DeploymentPlan plan(const json::object& of, const std::vector<SetSketch>& sets = {},
                    std::map<std::string, std::int64_t, std::less<>> running = {},
                    WallTime now = kNow) {
    std::vector<json::object> objects;
    for (const SetSketch& sketch : sets) objects.push_back(replica_set(sketch));
    return plan_deployment({of, std::move(objects), std::move(running)}, now);
}

/// "old=3" for each ReplicaSet that is changed.
std::vector<std::string> sizes(const DeploymentPlan& of) {
    std::vector<std::string> found;
    for (const json::object& set : of.update)
        found.push_back(fmt::format("{}={}", kube::name_of(set),
                                    kube::int_at(kube::child(set, "spec"), "replicas").value()));
    return found;
}
std::string condition(const json::object& status, std::string_view type) {
    const json::object* found = condition_of(status, type);
    if (found == nullptr) return "";
    return fmt::format("{}:{}", kube::string_at(*found, "status"),
                       kube::string_at(*found, "reason"));
}

TEST(RolloutLimits, AreSharesOfWhatIsWanted) {
    struct Row {
        const char* surge;
        const char* unavailable;
        std::int64_t replicas;
        std::int64_t most_more;
        std::int64_t most_less;
    };
    const Row kRows[] = {
        {"\"25%\"", "\"25%\"", 4, 1, 1},
        {"\"25%\"", "\"25%\"", 1, 1, 0},
        {"\"25%\"", "\"25%\"", 10, 3, 2},
        {"0", "\"1%\"", 2, 0, 1},
        {"\"0%\"", "\"100%\"", 3, 0, 3},
        {"2", "0", 5, 2, 0},
        {"0", "9", 5, 0, 5},
        {"\"200%\"", "0", 5, 10, 0},
        {"\"25%\"", "\"25%\"", 0, 0, 0},
    };
    for (const Row& row : kRows) {
        const RolloutLimits limits = rollout_limits(
            object(fmt::format(
                R"({{"strategy":{{"rollingUpdate":{{"maxSurge":{},"maxUnavailable":{}}}}}}})",
                row.surge, row.unavailable)),
            row.replicas);
        EXPECT_EQ(limits.surge, row.most_more) << row.surge << " of " << row.replicas;
        EXPECT_EQ(limits.unavailable, row.most_less) << row.unavailable << " of " << row.replicas;
    }
}

TEST(DeploymentPlan, MakesAReplicaSetOfItsTemplate) {
    const DeploymentPlan made = plan(deployment(4));
    ASSERT_TRUE(made.create.has_value());
    const json::object& set = *made.create;
    const std::string hash(
        kube::string_at(kube::child(kube::metadata_of(set), "labels"), kHashLabel));
    EXPECT_FALSE(hash.empty());
    EXPECT_EQ(kube::name_of(set), "d-" + hash);
    EXPECT_EQ(set.at("spec").at("replicas"), 4);
    EXPECT_EQ(set.at("spec").at("selector"),
              json::value({{"matchLabels", {{"app", "d"}, {kHashLabel, hash}}}}));
    EXPECT_EQ(
        set.at("metadata").at("annotations"),
        json::value({{kRevisionKey, "1"}, {kDesiredReplicasKey, "4"}, {kMaxReplicasKey, "5"}}));
    EXPECT_EQ(made.revision, "1");
    EXPECT_EQ(condition(made.status, "Progressing"), "True:NewReplicaSetCreated");
    EXPECT_THAT(made.scaled,
                ElementsAre(fmt::format("Scaled up replica set d-{} from 0 to 4", hash)));
    // While old pods are there, it begins with the room that there is.
    EXPECT_EQ(plan(deployment(4), {{"old", 4, 4}}).create->at("spec").at("replicas"), 1);
}

TEST(DeploymentPlan, ARollingUpdateGoesStepByStep) {
    struct Row {
        const char* what;
        SetSketch old;
        SetSketch now;
        std::vector<std::string> changed;
    };
    const auto next = [](std::int64_t wanted, std::int64_t available) {
        return SetSketch{"new", wanted, available, 2, 4, "new"};
    };
    const Row kRows[] = {
        {"one more than wanted, so one of the old may go", {"old", 4, 4}, next(1, 0), {"old=3"}},
        {"its place is taken", {"old", 3, 3}, next(1, 0), {"new=2"}},
        {"nothing more is unavailable than may be", {"old", 3, 3}, next(2, 0), {}},
        {"as one is available, another goes", {"old", 3, 3}, next(2, 1), {"old=2"}},
        {"what is broken goes first", {"old", 3, 1}, next(2, 2), {"old=1"}},
        {"broken new pods hold up the old ones", {"old", 3, 3}, next(2, 0), {}},
        {"the last", {"old", 1, 1}, next(4, 4), {"old=0"}},
        {"all done", {"old", 0, 0}, next(4, 4), {}},
        {"too many new ones", {"old", 0, 0}, {"new", 6, 6, 2, 4, "new"}, {"new=4"}},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(sizes(plan(deployment(4), {row.old, row.now})), row.changed) << row.what;
}

TEST(DeploymentPlan, RecreateWaitsForTheLastOldPod) {
    const json::object of = deployment(2, R"("strategy":{"type":"Recreate"})");
    EXPECT_THAT(sizes(plan(of, {{"old", 2, 2, 1, 2}})), ElementsAre("old=0"));
    EXPECT_FALSE(plan(of, {{"old", 0, 0, 1, 2}}, {{"old", 1}}).create.has_value());
    const DeploymentPlan made = plan(of, {{"old", 0, 0, 1, 2}});
    ASSERT_TRUE(made.create.has_value());
    EXPECT_EQ(made.create->at("spec").at("replicas"), 2);
    EXPECT_EQ(made.revision, "2");
}

TEST(DeploymentPlan, ScalesInProportionDuringARollout) {
    // 10 and 3 surge, of which 8 are old and 5 new; now 20 are wanted.
    const std::vector<SetSketch> sets = {{"old", 8, 8, 1, 10, "old", 13},
                                         {"new", 5, 0, 2, 10, "new", 13}};
    EXPECT_THAT(sizes(plan(deployment(20), sets)), ElementsAre("old=15", "new=10"));
    EXPECT_THAT(sizes(plan(deployment(5), sets)), ElementsAre("old=4", "new=3"));
    EXPECT_THAT(sizes(plan(deployment(0), sets)), ElementsAre("old=0", "new=0"));
    // Without a rollout the one that runs takes all.
    EXPECT_THAT(sizes(plan(deployment(7), {{"new", 4, 4, 1, 4, "new"}})), ElementsAre("new=7"));
}

TEST(DeploymentPlan, ARollbackGetsANewRevision) {
    const DeploymentPlan made =
        plan(deployment(4), {{"new", 0, 0, 1, 4, "new"}, {"old", 4, 4, 3}, {"older", 0, 0, 2}});
    ASSERT_FALSE(made.update.empty());
    const json::object& annotations =
        made.update.front().at("metadata").at("annotations").as_object();
    EXPECT_EQ(kube::string_at(annotations, kRevisionKey), "4");
    EXPECT_EQ(kube::string_at(annotations, kRevisionHistoryKey), "1");
    EXPECT_EQ(made.revision, "4");
}

TEST(DeploymentPlan, KeepsAHistoryOfItsLimit) {
    constexpr const char* kDone =
        R"("replicas":4,"updatedReplicas":4,"availableReplicas":4,"observedGeneration":1)";
    const std::vector<SetSketch> sets = {
        {"one", 0, 0, 1}, {"two", 0, 0, 2}, {"three", 0, 0, 3}, {"new", 4, 4, 4, 4, "new"}};
    EXPECT_THAT(plan(deployment(4, R"("revisionHistoryLimit":1)", kDone), sets).remove,
                ElementsAre("one", "two"));
    EXPECT_THAT(plan(deployment(4, R"("revisionHistoryLimit":3)", kDone), sets).remove, IsEmpty());
    EXPECT_THAT(plan(deployment(4, R"("revisionHistoryLimit":1)"), sets).remove, IsEmpty())
        << "not before it is complete";
}

TEST(DeploymentPlan, TellsHowItGoes) {
    const auto since = [](std::string_view reason, std::string_view updated) {
        return fmt::format(
            R"("observedGeneration":1,"replicas":4,"updatedReplicas":4,"unavailableReplicas":4,
               "conditions":[{{"type":"Progressing","status":"True","reason":"{}",
               "lastUpdateTime":"{}","lastTransitionTime":"2026-01-01T00:00:00Z"}}])",
            reason, updated);
    };
    const SetSketch waits{"new", 4, 0, 1, 4, "new"};
    const SetSketch runs{"new", 4, 4, 1, 4, "new"};
    struct Row {
        std::string status;
        SetSketch set;
        const char* progress;
        const char* available;
    };
    const Row kRows[] = {
        {"", waits, "True:ReplicaSetUpdated", "False:MinimumReplicasUnavailable"},
        {"", runs, "True:NewReplicaSetAvailable", "True:MinimumReplicasAvailable"},
        {since("ReplicaSetUpdated", "2026-01-02T02:54:06Z"), waits, "True:ReplicaSetUpdated",
         "False:MinimumReplicasUnavailable"},
        {since("ReplicaSetUpdated", "2026-01-02T02:54:04Z"), waits,
         "False:ProgressDeadlineExceeded", "False:MinimumReplicasUnavailable"},
        // A pod that breaks later is no rollout.
        {since("NewReplicaSetAvailable", "2026-01-01T00:00:00Z"), waits,
         "True:NewReplicaSetAvailable", "False:MinimumReplicasUnavailable"},
    };
    for (const Row& row : kRows) {
        const DeploymentPlan made = plan(deployment(4, "", row.status), {row.set});
        EXPECT_EQ(condition(made.status, "Progressing"), row.progress) << row.status;
        EXPECT_EQ(condition(made.status, "Available"), row.available) << row.status;
    }
    const DeploymentPlan late =
        plan(deployment(4, "", since("ReplicaSetUpdated", "2026-01-02T02:54:06Z")), {waits});
    EXPECT_EQ(late.again, kNow + 2s);
    // A pause is not late.
    const DeploymentPlan paused =
        plan(deployment(4, R"("paused":true)", since("ReplicaSetUpdated", "2026-01-01T00:00:00Z")),
             {waits});
    EXPECT_EQ(condition(paused.status, "Progressing"), "Unknown:DeploymentPaused");
    EXPECT_FALSE(paused.again.has_value());
}

TEST(DeploymentPlan, WhatIsAsItShouldBeStays) {
    const json::object first = deployment(4);
    DeploymentPlan settled = plan(first, {{"new", 4, 4, 1, 4, "new"}});
    json::object next = first;
    next["status"] = settled.status;
    next["metadata"].as_object()["annotations"] = {{kRevisionKey, "1"}};
    const DeploymentPlan again = plan(next, {{"new", 4, 4, 1, 4, "new"}}, {}, kNow + 1h);
    EXPECT_THAT(again.update, IsEmpty());
    EXPECT_FALSE(again.create.has_value());
    EXPECT_EQ(again.revision, "");
    EXPECT_EQ(again.status, settled.status);
}

}  // namespace
}  // namespace muster::workloads::deployment_plan_test
