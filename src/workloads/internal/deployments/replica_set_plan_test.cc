#include "workloads/internal/deployments/replica_set_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "kube/values/time.h"

namespace muster::workloads::replica_set_plan_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

json::object replica_set(std::int64_t replicas, std::int64_t least_ready_seconds = 0) {
    return kube::read_json(
               fmt::format(R"({{"metadata":{{"name":"r","namespace":"n","uid":"u","generation":3}},
                              "spec":{{"replicas":{},"minReadySeconds":{}}},"status":{{"replicas":0}}}})",
                           replicas, least_ready_seconds))
        .value()
        .as_object();
}

/// Made a minute ago, and ready for so long, if at all.
PodPtr pod(const std::string& name, std::optional<Duration> ready_for = std::nullopt,
           PodPhase phase = PodPhase::kRunning) {
    PodFacts made;
    made.name = {"n", name};
    made.uid = name;
    made.phase = phase;
    made.scheduled = true;
    made.created = kNow - 1min;
    made.ready = ready_for.has_value();
    if (ready_for) made.ready_since = kNow - *ready_for;
    return std::make_shared<const PodFacts>(std::move(made));
}
PodPtr leaving(const std::string& name) {
    PodFacts made = *pod(name, 10s);
    made.deleting = true;
    return std::make_shared<const PodFacts>(std::move(made));
}

std::vector<std::string> names(const std::vector<PodPtr>& pods) {
    std::vector<std::string> found;
    for (const PodPtr& one : pods) found.push_back(one->name.name);
    return found;
}

TEST(ReplicaSetPlan, MakesAndRemoves) {
    EXPECT_EQ(plan_replicas(replica_set(3), {pod("a")}).make, 2);
    EXPECT_EQ(
        plan_replicas(replica_set(2), {pod("a"), leaving("b"), pod("c", {}, PodPhase::kFailed)})
            .make,
        1);
    EXPECT_EQ(plan_replicas(replica_set(5000), {}).make, kMostPodsInOneTurn);
    PodFacts unscheduled = *pod("unscheduled", {}, PodPhase::kPending);
    unscheduled.scheduled = false;
    const std::vector<PodPtr> many = {pod("long", 50s), pod("short", 5s), pod("waits"),
                                      pod("pending", {}, PodPhase::kPending),
                                      std::make_shared<const PodFacts>(unscheduled)};
    EXPECT_THAT(names(plan_replicas(replica_set(0), many).remove),
                ElementsAre("unscheduled", "pending", "waits", "short", "long"));
    EXPECT_THAT(names(plan_replicas(replica_set(4), many).remove), ElementsAre("unscheduled"));
    json::object going = replica_set(3);
    going["metadata"].as_object()["deletionTimestamp"] = "2026-01-02T03:04:00Z";
    EXPECT_EQ(plan_replicas(going, {}).make, 0);
}

TEST(ReplicaSetPlan, CountsWhatIsReadyForLongEnough) {
    const ReplicaSetStatus made = replica_set_status(
        replica_set(4, 30), {pod("a", 30s), pod("b", 10s), pod("c", 29s), pod("d"), leaving("e")},
        "", kNow);
    EXPECT_EQ(made.status,
              kube::read_json(R"({"replicas":4,"fullyLabeledReplicas":4,"readyReplicas":3,
                                  "availableReplicas":1,"observedGeneration":3})")
                  .value());
    EXPECT_EQ(made.again, kNow + 1s);
    EXPECT_FALSE(replica_set_status(replica_set(1), {pod("a", 0s)}, "", kNow).again.has_value());
}

TEST(ReplicaSetPlan, AFailureIsAConditionForAsLongAsItLasts) {
    json::object set = replica_set(2);
    const json::object failed = replica_set_status(set, {}, "too many", kNow).status;
    const auto conditions = kube::objects_at(failed, "conditions");
    ASSERT_EQ(conditions.size(), 1u);
    EXPECT_EQ(kube::string_at(*conditions[0], "reason"), "FailedCreate");
    EXPECT_EQ(kube::string_at(*conditions[0], "message"), "too many");
    set["status"] = failed;
    EXPECT_EQ(replica_set_status(set, {}, "still too many", kNow + 1h).status, failed);
    EXPECT_FALSE(replica_set_status(set, {}, "", kNow).status.contains("conditions"));
}

}  // namespace
}  // namespace muster::workloads::replica_set_plan_test
