#include "operator/internal/scaling/scale_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "kube/objects/codec.h"
#include "operator/internal/scaling/scale_fixture.h"

namespace muster::operators::scale_order_test {
namespace {

using ::testing::HasSubstr;

std::string ids_text(const std::vector<std::int32_t>& ids) {
    std::string text;
    for (const std::int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    return text;
}

/// "worker=3 -1 >0 *0{...} | {...}": the ranks of each type, what leaves and migrates, what ranks
/// request; what the status keeps.
std::string shown(const Result<ScaleOrder>& order) {
    if (!order) return order.error().message();
    std::string text;
    for (const auto& [type, change] : order->types) {
        text += fmt::format("{}={}", elastic().replica_types[type].name, change.wanted);
        if (!change.removed.empty()) text += " -" + ids_text(change.removed);
        if (!change.migrated.empty()) text += " >" + ids_text(change.migrated);
        for (const auto& [rank, own] : change.own_resources)
            text += fmt::format(" *{}{}", rank, json::serialize(kube::encode(own)));
        text += " ";
    }
    json::value kept = kube::encode(order->executed);
    kept.as_object().erase("uid");
    kept.as_object().erase("generation");
    return text + "| " + json::serialize(kept);
}

const std::string kThree = R"({"worker": {"ids": "0-2", "next": 3}})";
/// Rank 1 is held by 3; 0 is on its way to 4.
const std::string kMoved = R"({"worker": {"ids": "0,2-4", "ranks": {"3": 1, "4": 0}, "next": 5}})";

Result<ScaleOrder> order_for(const std::string& spec, const JobRecord& job) {
    const jobs::ScalePlanReview review = jobs::review_scale_plan(plan_object("p", spec));
    EXPECT_TRUE(review.problems.empty()) << spec << ": " << review.problems.front().message;
    return order_of(review.plan.spec, "u", 7, job, job.status.unpack());
}

TEST(ScaleOrder, WhatPlansChange) {
    const JobPtr three = elastic_record(elastic_object(replica_spec("worker", 3)), kThree);
    const JobPtr moved = elastic_record(elastic_object(replica_spec("worker", 3)), kMoved);
    struct Row {
        std::string plan;
        JobPtr job;
        std::string result;
    };
    for (const Row& row : std::vector<Row>{
             {workers(5), three,
              R"(worker=5 | {"replicas":{"worker":{"replicas":5,"insteadOf":3}}})"},
             {workers(1), three,
              R"(worker=1 | {"replicas":{"worker":{"replicas":1,"insteadOf":3}}})"},
             {workers(3), three, "worker=3 | {}"},
             {R"("removePods": [{"type": "worker", "id": 1}])", three,
              R"(worker=2 -1 | {"replicas":{"worker":{"replicas":2,"insteadOf":3}}})"},
             {R"("removePods": [{"name": "demo-edljob-worker-2"}])", three,
              R"(worker=2 -2 | {"replicas":{"worker":{"replicas":2,"insteadOf":3}}})"},
             // Replaced: one leaves, and as many are wanted as before.
             {R"("removePods": [{"type": "worker", "id": 1}], )" + workers(3), three,
              "worker=3 -1 | {}"},
             {R"("createPods": [{"type": "worker"}, {"type": "worker", "id": 4}])", three,
              R"(worker=5 | {"replicas":{"worker":{"replicas":5,"insteadOf":3}}})"},
             {R"("removePods": [{"type": "worker", "id": 1}],
                 "createPods": [{"type": "worker", "id": 3, "rankIndex": 1,
                                 "name": "demo-edljob-worker-3"}])",
              three, "worker=3 -1 | {}"},
             {R"("migratePods": [{"type": "worker", "id": 0}, {"name": "demo-edljob-worker-2"}])",
              three, "worker=3 >0,2 | {}"},
             {R"("replicaResourceSpecs": {"worker": {"resource": {"cpu": "2"}}})", three,
              R"(| {"replicas":{"worker":{"resource":{"cpu":"2"}}}})"},
             {R"("sparePods": [{"type": "worker", "id": 2}, {"name": "demo-edljob-worker-0"},
                               {"name": "demo-edljob-worker-9"}, {"type": "ps", "id": 0}])",
              three, R"(| {"spares":{"worker":"0,2"}})"},
             // A rank that has two pods loses one, and is there all the same.
             {R"("removePods": [{"type": "worker", "id": 4}])", moved, "worker=3 -4 | {}"},
             {R"("removePods": [{"type": "worker", "id": 0}, {"type": "worker", "id": 4}])", moved,
              R"(worker=2 -0,4 | {"replicas":{"worker":{"replicas":2,"insteadOf":3}}})"},
         })
        EXPECT_EQ(shown(order_for(row.plan, *row.job)), row.result) << row.plan;
}

TEST(ScaleOrder, WhyPlansAreRefused) {
    const JobPtr three = elastic_record(elastic_object(replica_spec("worker", 3)), kThree);
    const JobPtr moved = elastic_record(elastic_object(replica_spec("worker", 3)), kMoved);
    struct Row {
        std::string plan;
        std::string why;
        JobPtr job;
    };
    for (const Row& row : std::vector<Row>{
             {R"("removePods": [{"type": "worker", "id": 3}])",
              "spec.removePods[0]: the job has no worker with the id 3; there are 0-2", three},
             {R"("removePods": [{"name": "demo-edljob-worker-9"}])",
              R"(spec.removePods[0]: the job has no pod "demo-edljob-worker-9")", three},
             {R"("removePods": [{"name": "elasticjob-demo-dlrover-master-0"}])",
              "spec.removePods[0]: the job has no pod", three},
             {R"("removePods": [{"name": "demo-edljob-worker-1", "id": 2, "type": "worker"}])",
              "is worker 1, and the plan says otherwise", three},
             {R"("removePods": [{"name": "demo-edljob-worker-1"}, {"type": "worker", "id": 1}])",
              "spec.removePods[1]: the plan changes worker 1 twice", three},
             {R"("removePods": [{"name": "demo-edljob-worker-1"}],
                 "migratePods": [{"type": "worker", "id": 1}])",
              "spec.migratePods[0]: the plan changes worker 1 twice", three},
             {R"("migratePods": [{"type": "worker", "id": 0}])",
              "worker 0 is being replaced by 4 already", moved},
             {R"("migratePods": [{"type": "worker", "id": 4}])",
              "worker 0 is being replaced by 4 already", moved},
             {R"("createPods": [{"type": "worker", "resource": {"cpu": "2"}},
                                {"type": "worker", "resource": {"cpu": "3"}}], )" +
                  workers(4),
              "spec.createPods[1]: the plan makes fewer pods of worker than createPods has", three},
             {R"("createPods": [{"type": "worker", "id": 3}, {"type": "worker", "id": 3}])",
              "spec.createPods[1]: the next worker has the id 3", three},
             {R"("migratePods": [{"type": "worker", "id": 0}],
                 "createPods": [{"type": "worker", "id": 3}])",
              "spec.createPods[0]: the next worker has the id 4", three},
             {R"("createPods": [{"type": "ps"}])",
              "spec.createPods[0].type: the job's manifest has no ps", three},
             {R"("replicaResourceSpecs": {"ps": {"replicas": 1}})",
              "spec.replicaResourceSpecs.ps: the job's manifest has no ps", three},
             {R"("createPods": [{"type": "worker", "id": 1}])",
              "spec.createPods[0]: the next worker has the id 3", three},
             {R"("createPods": [{"type": "worker", "rankIndex": 7}])",
              "spec.createPods[0]: the next worker has the id 3", three},
             {workers(0), "0 of worker is below the minimum of 1", three},
             {R"("removePods": [{"type": "worker", "id": 0}, {"type": "worker", "id": 1},
                                {"type": "worker", "id": 2}])",
              "0 of worker is below the minimum of 1", three},
         })
        EXPECT_THAT(shown(order_for(row.plan, *row.job)), HasSubstr(row.why)) << row.plan;
}

TEST(ScaleOrder, WhatSinglePodsRequest) {
    const JobPtr three = elastic_record(elastic_object(replica_spec("worker", 3)), kThree);
    // Rank 1 has memory of its own, and cores that its template no longer has others for.
    const JobPtr own = elastic_record(elastic_object(replica_spec("worker", 3)),
                                      R"({"worker": {"ids": "0-2", "next": 3, "resources": {
        "1": {"resource": {"memory": "4Gi", "cpu": "9"}, "insteadOf": {"cpu": "2"}}}}})");
    struct Row {
        std::string plan;
        JobPtr job;
        std::string result;
    };
    for (
        const Row& row : std::vector<Row>{
            {R"("migratePods": [{"type": "worker", "id": 0},
                                 {"name": "demo-edljob-worker-2", "resource": {"cpu": "2"}}])",
             three, R"(worker=3 >0,2 *2{"resource":{"cpu":"2"},"insteadOf":{"cpu":"1"}} | {})"},
            // Those that say which they are are found first.
            {R"("createPods": [{"type": "worker", "resource": {"memory": "1Gi"}},
                                {"type": "worker", "id": 3, "resource": {"cpu": 3}}])",
             three,
             R"(worker=5 *3{"resource":{"cpu":3},"insteadOf":{"cpu":"1"}})"
             R"( *4{"resource":{"memory":"1Gi"}} )"
             R"(| {"replicas":{"worker":{"replicas":5,"insteadOf":3}}})"},
            {R"("removePods": [{"type": "worker", "id": 1, "resource": {"cpu": "1"}}],
                 "createPods": [{"type": "worker", "resource": {"cpu": "2"}}])",
             three, R"(worker=3 -1 *1{"resource":{"cpu":"2"},"insteadOf":{"cpu":"1"}} | {})"},
            // A migration takes the next id, and no free rank.
            {R"("migratePods": [{"type": "worker", "id": 0}],
                 "createPods": [{"type": "worker", "id": 4, "resource": {"cpu": "2"}}])",
             three,
             R"(worker=4 >0 *3{"resource":{"cpu":"2"},"insteadOf":{"cpu":"1"}} )"
             R"(| {"replicas":{"worker":{"replicas":4,"insteadOf":3}}})"},
            // What all pods request changes with the same plan.
            {R"("replicaResourceSpecs": {"worker": {"resource": {"cpu": "5", "x": 1}}},
                 "migratePods": [{"type": "worker", "id": 0, "resource": {"cpu": "2"}}])",
             three,
             R"(worker=3 >0 *0{"resource":{"cpu":"2"},"insteadOf":{"cpu":"5"}} )"
             R"(| {"replicas":{"worker":{"resource":{"cpu":"5","x":1}}}})"},
            {R"("migratePods": [{"type": "worker", "id": 1, "resource": {"cpu": "2"}}])", own,
             R"(worker=3 >1 *1{"resource":{"cpu":"2","memory":"4Gi"},"insteadOf":{"cpu":"1"}} | {})"},
            {R"("migratePods": [{"type": "worker", "id": 1}])", own, "worker=3 >1 | {}"},
            // Another replica of that rank has none of it.
            {R"("removePods": [{"type": "worker", "id": 1}],
                 "createPods": [{"type": "worker", "resource": {"cpu": "2"}}])",
             own, R"(worker=3 -1 *1{"resource":{"cpu":"2"},"insteadOf":{"cpu":"1"}} | {})"},
        })
        EXPECT_EQ(shown(order_for(row.plan, *row.job)), row.result) << row.plan;
}

TEST(ScaleOrder, TheChiefThatIsAWorkerHasTheWorkersTemplate) {
    const JobPtr job =
        elastic_record(elastic_object(replica_spec("ps", 1) + "," + replica_spec("worker", 3)),
                       R"({"ps": {"ids": "0", "next": 1}, "chief": {"ids": "0", "next": 1},
            "worker": {"ids": "0-1", "next": 2}})");
    EXPECT_EQ(shown(order_for(R"("replicaResourceSpecs": {"worker": {"resource": {"cpu": "5"}}},
                 "migratePods": [{"type": "chief", "id": 0, "resource": {"cpu": "2"}}])",
                              *job)),
              R"(chief=1 >0 *0{"resource":{"cpu":"2"},"insteadOf":{"cpu":"5"}} )"
              R"(| {"replicas":{"worker":{"resource":{"cpu":"5"}}}})");
}

TEST(ScaleOrder, TheMembersThatItLeadsTo) {
    const JobPtr three = elastic_record(elastic_object(replica_spec("worker", 3)), kThree);
    const auto order = order_for(
        R"("migratePods": [{"type": "worker", "id": 0, "resource": {"cpu": "2"}}])", *three);
    const auto after = members_after(*order, *three, three->status.unpack());
    const jobs::ReplicaMembers& workers_after = after.at("worker");
    EXPECT_EQ(workers_after.ids, "0-3");
    EXPECT_EQ(workers_after.ranks.at("3"), 0);
    EXPECT_EQ(workers_after.resources.at("0").resource.at("cpu"), json::value("2"));
}

TEST(ScaleOrder, NotMoreThanAStatusHolds) {
    jobs::ReplicaMembers members{.ids = "0-1999", .ranks = {}, .next = 2000};
    for (int rank = 0; rank < 1000; ++rank)
        members.resources[std::to_string(rank)] = {.resource = {{"memory", json::value("1Gi")}},
                                                   .instead_of = {}};
    const JobPtr job =
        elastic_record(elastic_object(replica_spec("worker", 2000)),
                       R"({"worker": )" + json::serialize(kube::encode(members)) + "}");
    const auto of = [&](int id) {
        return shown(order_for(fmt::format(R"("migratePods": [{{"type": "worker", "id": {},
                                               "resource": {{"memory": "2Gi"}}}}])",
                                           id),
                               *job));
    };
    EXPECT_THAT(of(1500), HasSubstr("spec.migratePods[0].resource: more than 1000 replicas"));
    EXPECT_THAT(of(500), HasSubstr("worker=2000 >500 *500"));
}

// Its first worker is the chief, as upstream has it: numbers are those of the manifest.
TEST(ScaleOrder, OfAJobWhoseFirstWorkerIsTheChief) {
    const JobPtr job =
        elastic_record(elastic_object(replica_spec("ps", 1) + "," + replica_spec("worker", 3)),
                       R"({"ps": {"ids": "0", "next": 1}, "chief": {"ids": "0", "next": 1},
            "worker": {"ids": "0-1", "next": 2}})");
    for (const auto& [plan, result] : std::vector<std::pair<std::string, std::string>>{
             {workers(5), R"(worker=4 | {"replicas":{"worker":{"replicas":5,"insteadOf":3}}})"},
             {workers(1),
              "spec: 1 of worker is below the minimum of 2: suspend the job to stop it "
              "for a while"},
             {R"("removePods": [{"type": "worker", "id": 1}])",
              R"(worker=1 -1 | {"replicas":{"worker":{"replicas":2,"insteadOf":3}}})"},
             {R"("removePods": [{"type": "chief", "id": 0}])",
              "spec: 0 of chief is below the minimum of 1: suspend the job to stop it for a while"},
             {R"("replicaResourceSpecs": {"chief": {"replicas": 1}})",
              "spec.replicaResourceSpecs.chief: the job's manifest has no chief: a plan changes "
              "the "
              "number of replicas that have a template"},
             {R"("migratePods": [{"type": "chief", "id": 0}])", "chief=1 >0 | {}"},
             {R"("replicaResourceSpecs": {"ps": {"replicas": 2}})",
              R"(ps=2 | {"replicas":{"ps":{"replicas":2,"insteadOf":1}}})"},
         })
        EXPECT_EQ(shown(order_for(plan, *job)), result) << plan;
}

// What earlier plans asked for stays, unless the manifest has been edited.
TEST(ScaleOrder, AfterOtherPlans) {
    const auto asked = [](const std::string& more) {
        return elastic_record(
            elastic_object(replica_spec("ps", 1) + "," + replica_spec("chief", 1) + "," +
                           replica_spec("worker", 3)),
            R"({"ps": {"ids": "0-1", "next": 2}, "chief": {"ids": "0", "next": 1},
                "worker": {"ids": "0-3", "next": 4}})",
            R"(, "plan": {"uid": "before", "generation": 1, "replicas": )" + more + "}");
    };
    const JobPtr four = asked(R"({"worker": {"replicas": 4, "insteadOf": 3},
                                  "ps": {"replicas": 2, "insteadOf": 1, "resource": {"cpu": "3"}}})");
    EXPECT_EQ(four->facts->find(3)->wanted, 4);
    EXPECT_EQ(four->facts->find(3)->written, 3);
    EXPECT_EQ(
        shown(order_for(workers(3), *four)),
        R"(worker=3 | {"replicas":{"ps":{"replicas":2,"insteadOf":1,"resource":{"cpu":"3"}}}})");
    EXPECT_EQ(
        shown(order_for(R"("removePods": [{"type": "worker", "id": 3}])", *four)),
        R"(worker=3 -3 | {"replicas":{"ps":{"replicas":2,"insteadOf":1,"resource":{"cpu":"3"}}}})");
    EXPECT_EQ(
        shown(order_for(R"("replicaResourceSpecs": {"ps": {"replicas": 1}})", *four)),
        R"(ps=1 | {"replicas":{"ps":{"resource":{"cpu":"3"}},"worker":{"replicas":4,"insteadOf":3}}})");

    const JobPtr edited = asked(R"({"worker": {"replicas": 4, "insteadOf": 2}})");
    EXPECT_EQ(edited->facts->find(3)->wanted, 3) << "the manifest's own number counts again";
    EXPECT_EQ(shown(order_for(workers(6), *edited)),
              R"(worker=6 | {"replicas":{"worker":{"replicas":6,"insteadOf":3}}})");
}

TEST(ScaleOrder, AStatusThatHasLostItsMembers) {
    const JobPtr job = elastic_record(elastic_object(replica_spec("worker", 3)), "{}");
    EXPECT_THAT(shown(order_for(workers(4), *job)), HasSubstr("the server drops its members"));
}

TEST(ScaleOrder, ItsIdentityIsThatOfThePlan) {
    const JobPtr job = elastic_record(elastic_object(replica_spec("worker", 3)), kThree);
    const Result<ScaleOrder> order = order_for(workers(4), *job);
    ASSERT_TRUE(order.has_value());
    EXPECT_EQ(order->executed.uid, "u");
    EXPECT_EQ(order->executed.generation, 7);
}

}  // namespace
}  // namespace muster::operators::scale_order_test
