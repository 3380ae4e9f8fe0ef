#include "operator/internal/scaling/plan_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/internal/scaling/excluded_nodes.h"
#include "operator/internal/scaling/scale_fixture.h"

namespace muster::operators::plan_queue_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr WallTime kCreated{std::chrono::seconds(1'767'225'600)};  // as served() says
using namespace std::chrono_literals;

struct PlanSketch {
    std::string name;
    std::string spec = workers(3);
    std::string status = "{}";
    std::string type = "manual";
    int generation = 1;
    int second = 0;  ///< of its creation
};

PlanPtr make_plan(const PlanSketch& sketch) {
    json::value object = served(plan_object(sketch.name, sketch.spec, sketch.type),
                                "uid-" + sketch.name, sketch.generation, sketch.status);
    object.at("metadata").as_object()["creationTimestamp"] =
        fmt::format("2026-01-01T00:00:{:02}Z", sketch.second);
    return project_plan(object);
}

std::vector<PlanPtr> make_plans(const std::vector<PlanSketch>& sketches) {
    std::vector<PlanPtr> plans;
    for (const PlanSketch& sketch : sketches) plans.push_back(make_plan(sketch));
    return plans;
}

std::vector<std::string> told(const PlanQueue& queue) {
    std::vector<std::string> lines;
    for (const PlanNews& news : queue.news)
        lines.push_back(fmt::format(
            "{}{} {}: {}", news.plan->name,
            news.generation == news.plan->generation ? "" : fmt::format("@{}", news.generation),
            news.phase, news.message));
    return lines;
}

std::string next_of(const PlanQueue& queue) {
    return queue.next == nullptr ? "" : queue.next->name;
}

/// A job of two workers whose pods exist as `dependents` say.
struct Job {
    explicit Job(const std::string& more_status = {},
                 const std::string& members = R"({"worker": {"ids": "0-1", "next": 2}})",
                 const std::string& more_spec = {})
        : record(elastic_record(elastic_object(replica_spec("worker", 2), more_spec), members,
                                more_status)),
          status(record->status.unpack()) {
        if (record->facts) dependents.configure(record->facts, status);
    }
    /// Pods that are being made count as there.
    void make_pods(int number) {
        dependents.pod_create_sent({0, 0}, Instant::max());
        for (std::int32_t id = 0; id < number; ++id)
            dependents.pod_create_sent({3, id}, Instant::max());
    }
    PlannedJob planned() const { return {*record, status, dependents, one_machine}; }

    JobPtr record;
    jobs::JobStatus status;
    Dependents dependents;
    bool one_machine = false;
};

PlanQueue queue_for(const Job& job, const std::vector<PlanSketch>& sketches,
                    const Refusals& refusals = {}) {
    return queue_of(make_plans(sketches), job.planned(), refusals, kCreated + 10s);
}

const std::string kNamesA = R"(, "plan": {"uid": "uid-a", "generation": 1})";
const std::string kScaling = R"({"phase": "Scaling", "observedGeneration": 1})";
const std::string kDone = R"({"phase": "Succeeded", "observedGeneration": 1})";

TEST(PlanQueue, TheOldestIsNextAndUsersGoBeforeTheMaster) {
    const Job job;
    const PlanQueue queue = queue_for(job, {{.name = "demo-plan", .type = "auto"},
                                            {.name = "late", .second = 2},
                                            {.name = "b", .second = 1},
                                            {.name = "a", .second = 1}});
    EXPECT_EQ(next_of(queue), "a");
    ASSERT_TRUE(queue.order.has_value());
    EXPECT_EQ(queue.order->executed.uid, "uid-a");
    EXPECT_THAT(told(queue), ElementsAre("b Pending: waits for the plans before it",
                                         "late Pending: waits for the plans before it",
                                         "demo-plan Pending: waits for the plans before it"));
}

TEST(PlanQueue, TheOneThatTheStatusNamesIsUnderWayUntilItsOwnStatusSaysOtherwise) {
    Job job(kNamesA);
    EXPECT_THAT(told(queue_for(job, {{.name = "a"}, {.name = "b"}})),
                ElementsAre("a Scaling: dlrover-master pods are to be made; worker pods are to be "
                            "made",
                            "b Pending: waits for the plans before it"));
    job.make_pods(2);
    for (const std::string& status : {std::string("{}"), kScaling}) {
        const PlanQueue queue = queue_for(job, {{.name = "a", .status = status}, {.name = "b"}});
        EXPECT_THAT(told(queue), ElementsAre("a Succeeded: "));
        EXPECT_EQ(next_of(queue), "") << "until that is written";
    }
    EXPECT_EQ(next_of(queue_for(job, {{.name = "a", .status = kDone}, {.name = "b"}})), "b");
    EXPECT_EQ(next_of(queue_for(job, {{.name = "b"}})), "b") << "it was deleted";
}

TEST(PlanQueue, WhatItWaitsForIsNamed) {
    Job job(kNamesA, R"({"worker": {"ids": "0-3", "ranks": {"2": 0, "3": 1}, "next": 4}})");
    job.make_pods(3);
    EXPECT_THAT(told(queue_for(job, {{.name = "a"}})),
                ElementsAre("a Scaling: worker 2 is to take over from 0; worker 3 is to take over "
                            "from 1; worker pods are to be made"));
}

TEST(PlanQueue, WhatIsDoneNeedsNoPod) {
    Job job(kNamesA +
            R"(, "replicaStatuses": {"worker": {"succeeded": 1, "completedIndexes": "1"}})");
    job.make_pods(1);
    EXPECT_THAT(told(queue_for(job, {{.name = "a"}})), ElementsAre("a Succeeded: "));
}

TEST(PlanQueue, AnEditedPlanIsExecutedAgain) {
    Job job(kNamesA);
    job.make_pods(2);
    PlanQueue queue = queue_for(job, {{.name = "a", .status = kScaling, .generation = 2}});
    EXPECT_THAT(told(queue), ElementsAre("a@1 Succeeded: "));
    EXPECT_EQ(next_of(queue), "");
    queue = queue_for(job, {{.name = "a", .status = kDone, .generation = 2}});
    EXPECT_THAT(told(queue), IsEmpty());
    EXPECT_EQ(next_of(queue), "a");
    EXPECT_EQ(queue.order->executed.generation, 2);
}

TEST(PlanQueue, OneThatWasExecutedIsNotExecutedAgainWhenTheJobsStatusIsLost) {
    const PlanQueue queue =
        queue_for(Job(), {{.name = "a", .status = kScaling}, {.name = "b", .second = 1}});
    EXPECT_THAT(told(queue), ElementsAre(HasSubstr("a Failed: the job's status no longer says")));
    EXPECT_EQ(next_of(queue), "b");
}

TEST(PlanQueue, WhatUpstreamsOperatorHasEndedStaysEnded) {
    EXPECT_EQ(next_of(queue_for(Job(), {{.name = "a", .status = R"({"phase": "Succeeded"})"}})),
              "");
    EXPECT_EQ(next_of(queue_for(Job(), {{.name = "a", .status = R"({"phase": "Created"})"}})), "a");
}

TEST(PlanQueue, RefusedPlansDoNotHoldUpOthers) {
    const PlanQueue queue = queue_for(
        Job(),
        {{.name = "a", .spec = workers(0)},
         {.name = "b", .spec = R"("replicaResourceSpecs": {"PS": {"replicas": 1}})"},
         {.name = "c"},
         {.name = "d"},
         {.name = "e", .spec = R"("removePods": [])"}},
        {{"uid-c", {.generation = 1, .why = "above the limit"}}, {"uid-d", {.generation = 0}}});
    EXPECT_THAT(
        told(queue),
        ElementsAre("a Failed: spec: 0 of worker is below the minimum of 1: suspend the job "
                    "to stop it for a while",
                    HasSubstr("b Failed: spec.replicaResourceSpecs.PS: "),
                    "c Failed: above the limit",
                    HasSubstr("e Failed: spec: the plan changes nothing")));
    EXPECT_EQ(next_of(queue), "d");
}

TEST(PlanQueue, JobsThatNoPlanChanges) {
    struct Row {
        std::string status;
        std::string spec;
        std::string result;
    };
    for (const Row& row : std::vector<Row>{
             {R"(, "conditions": [{"type": "Succeeded", "status": "True"}])", "",
              "a Failed: ElasticJob demo has succeeded"},
             {R"(, "conditions": [{"type": "Failed", "status": "True"}])", "",
              "a Failed: ElasticJob demo has failed"},
             {"", R"("runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"},)",
              "a Failed: ElasticJob demo is managed by another controller"},
             {"", R"("suspend": true,)", "a Pending: the job is suspended"},
             {R"(, "conditions": [{"type": "Suspended", "status": "True"}])", "",
              "a Pending: the job is suspended"},
             {R"(, "startTime": "")", "", "a Pending: the job has not begun"},
             {"", R"("distributionStrategy": "None",)",
              "a Pending: the job's manifest can't be run"},
         }) {
        const Job job(row.status, R"({"worker": {"ids": "0-1", "next": 2}})", row.spec);
        const PlanQueue queue = queue_for(job, {{.name = "a"}});
        EXPECT_THAT(told(queue), ElementsAre(row.result));
        EXPECT_EQ(next_of(queue), "");
    }
}

const PlanSketch kNoWish{.name = "demo-plan", .spec = R"("psHosts": [])", .type = "auto"};

TEST(PlanQueue, AMastersPlanThatAsksForNothingIsLeftAlone) {
    const auto rests = [](const PlanQueue& queue) {
        EXPECT_THAT(told(queue), IsEmpty());
        EXPECT_EQ(next_of(queue), "");
        EXPECT_FALSE(queue.look_again.has_value());
    };
    rests(queue_for(Job(), {kNoWish}));
    rests(
        queue_for(Job(R"(, "conditions": [{"type": "Succeeded", "status": "True"}])"), {kNoWish}));
    rests(queue_for(Job(R"(, "startTime": "")"), {kNoWish}));
    rests(queue_of(make_plans({kNoWish}), std::nullopt, {}, kCreated + 100s));
    EXPECT_EQ(next_of(queue_for(Job(), {kNoWish, {.name = "a"}})), "a") << "it holds up no other";
    PlanSketch of_user = kNoWish;
    of_user.type = "manual";
    EXPECT_THAT(told(queue_for(Job(), {of_user})),
                ElementsAre(HasSubstr("demo-plan Failed: spec: the plan changes nothing")));
}

TEST(PlanQueue, AMastersNextWishIsExecutedAndItsLastOneTold) {
    PlanSketch plan{.name = "demo-plan",
                    .spec = R"("excludedNodes": [{"node": "n1"}])",
                    .type = "auto",
                    .generation = 2};
    EXPECT_EQ(next_of(queue_for(Job(), {plan})), "demo-plan") << "the first one asked for nothing";
    plan.status = R"({"phase": "Succeeded", "observedGeneration": 2})";
    EXPECT_EQ(next_of(queue_for(Job(), {plan})), "");
    plan.generation = 3;
    EXPECT_EQ(next_of(queue_for(Job(), {plan})), "demo-plan");
    // It asks for nothing any more while its second generation is under way.
    Job job(R"(, "plan": {"uid": "uid-demo-plan", "generation": 2})");
    job.make_pods(2);
    PlanSketch taken_back = kNoWish;
    taken_back.generation = 3;
    taken_back.status = R"({"phase": "Scaling", "observedGeneration": 2})";
    EXPECT_THAT(told(queue_for(job, {taken_back})), ElementsAre("demo-plan@2 Succeeded: "));
}

TEST(PlanQueue, NodesThatAreLeftOutEnterTheStatus) {
    const std::string before =
        R"(, "plan": {"uid": "x", "generation": 1, "excludedNodes": [
               {"node": "n0", "until": "2026-01-01T00:00:10Z"}, {"node": "n1"}]})";
    const PlanSketch plan{
        .name = "a",
        .spec = R"("excludedNodes": [{"node": "n2", "until": "2026-01-02T00:00:00Z"}])"};
    const auto nodes = [](const PlanQueue& queue) {
        return queue.order ? names_of(queue.order->executed.excluded_nodes) : "no order";
    };
    EXPECT_EQ(nodes(queue_for(Job(before), {plan})), "n1, n2 (until 2026-01-02T00:00:00Z)");
    EXPECT_EQ(nodes(queue_for(Job(before), {{.name = "a"}})), "n1") << "other plans leave them";
    Job alone;
    alone.one_machine = true;
    EXPECT_EQ(nodes(queue_for(alone, {plan})), "");
    Job done(kNamesA);
    done.make_pods(2);
    EXPECT_THAT(told(queue_for(done, {plan})), ElementsAre("a Succeeded: "));
    done.one_machine = true;
    EXPECT_THAT(told(queue_for(done, {plan})),
                ElementsAre("a Succeeded: excludedNodes has no effect on one machine, which has no "
                            "other node"));
}

TEST(PlanQueue, SparesAreThoseOfTheMastersLastPlan) {
    const auto spares = [](const PlanSketch& plan) {
        const PlanQueue queue = queue_for(
            Job(R"(, "plan": {"uid": "x", "generation": 1, "spares": {"worker": "0"}})"), {plan});
        if (!queue.order) return std::string("no order");
        const auto found = queue.order->executed.spares.find("worker");
        return found == queue.order->executed.spares.end() ? std::string() : found->second;
    };
    const std::string one = R"("sparePods": [{"type": "worker", "id": 1}])";
    EXPECT_EQ(spares({.name = "demo-plan", .spec = one, .type = "auto"}), "1");
    EXPECT_EQ(spares({.name = "demo-plan", .spec = workers(1), .type = "auto"}), "");
    EXPECT_EQ(spares(kNoWish), "") << "it takes them back";
    EXPECT_EQ(spares({.name = "a", .spec = one}), "1");
    EXPECT_EQ(spares({.name = "a"}), "0") << "a user's plan that names none changes none";
}

TEST(PlanQueue, APlanWaitsAMinuteForItsJob) {
    const std::vector<PlanPtr> plans =
        make_plans({{.name = "a"}, {.name = "b", .second = 5}, {.name = "c", .status = kDone}});
    PlanQueue queue = queue_of(plans, std::nullopt, {}, kCreated + 10s);
    const std::string missing = "there is no job \"demo\" in the namespace default";
    EXPECT_THAT(told(queue),
                ElementsAre("a Pending: " + missing + "; the plan waits for it for 60 s",
                            "b Pending: " + missing + "; the plan waits for it for 60 s"));
    EXPECT_EQ(queue.look_again, kCreated + 60s);
    queue = queue_of(plans, std::nullopt, {}, kCreated + 61s);
    EXPECT_THAT(told(queue),
                ElementsAre("a Failed: " + missing,
                            "b Pending: " + missing + "; the plan waits for it for 60 s"));
    EXPECT_EQ(queue.look_again, kCreated + 65s);
}

TEST(PlanQueue, WhatWasToldIsNotToldAgain) {
    const std::string waits =
        R"({"phase": "Pending", "message": "waits for the plans before it", "observedGeneration": 1})";
    EXPECT_THAT(told(queue_for(Job(), {{.name = "a"}, {.name = "b", .status = waits}})), IsEmpty());
}

TEST(PlanQueue, OfThoseThatHaveEndedTheLastTenStay) {
    std::vector<PlanSketch> sketches;
    for (int i = 0; i < 13; ++i)
        sketches.push_back({.name = fmt::format("p{:02}", i),
                            .status = fmt::format(R"({{"phase": "{}", "observedGeneration": 1,
                                       "finishTime": "2026-01-01T00:01:{:02}Z"}})",
                                                  i % 2 == 0 ? "Succeeded" : "Failed", i)});
    sketches.push_back({.name = "demo-plan", .status = kDone, .type = "auto"});
    sketches.push_back({.name = "open"});
    std::vector<std::string> names;
    for (const PlanPtr& plan : queue_for(Job(), sketches).surplus) names.push_back(plan->name);
    EXPECT_THAT(names, ElementsAre("p02", "p01", "p00"));
    EXPECT_EQ(queue_of(make_plans(sketches), std::nullopt, {}, kCreated).surplus.size(), 3u);
}

TEST(PlanRecord, ReadsWhatOthersMayWrite) {
    for (const char* hostile :
         {R"({"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": 3, "status": []})",
          R"({"metadata": {"name": "p", "uid": 3, "generation": "x", "labels": {"a": 1}},
              "status": {"phase": 1, "observedGeneration": "y"}})",
          R"({"metadata": {}})"}) {
        const PlanPtr plan = project_plan(json::parse(hostile));
        EXPECT_FALSE(plan->problem.empty()) << hostile;
        EXPECT_EQ(plan->spec, nullptr);
        EXPECT_FALSE(plan->ended());
        EXPECT_LE(plan->problem.size(), 1500u);
    }
    EXPECT_EQ(project_plan(served(plan_object("p", "\"a\": 3"), "u", 1))->job_name, "demo");
}

}  // namespace
}  // namespace muster::operators::plan_queue_test
