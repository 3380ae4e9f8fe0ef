#include "sim/internal/elastic_job.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_loop.h"

namespace muster::sim::elastic_job_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kSucceeded =
    R"({"status":{"conditions":[{"type":"Succeeded","status":"True"}]}})";

/// A job of pods "demo-worker-0" and on, whose containers start and end as a test says.
class ElasticJobTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    static launch::LaunchPlan plan() {
        launch::LaunchPlan made;
        made.rendezvous.where = launch::Rendezvous::Where::kEndpoints;
        made.rendezvous.endpoints = {{"demo-worker-0", 23456}};
        made.nodes = {1, 4};
        made.times.last_call = 1s;
        for (job_protocol::Budget& budget : made.budgets) budget.incidents = 3;
        return made;
    }
    ElasticPod& start(int index, int start = 0) {
        const json::value pod = json::parse(fmt::format(
            R"({{"metadata":{{"name":"demo-worker-{0}","uid":"uid-{0}-{1}"}}}})", index, start));
        ElasticPod& made =
            job.pod_of(pod, plan(), {index, fmt::format("10.0.{}.{}", start, index), machine}, {});
        job.start(made, plan(), [this, index](std::int32_t code) {
            ended.push_back(fmt::format("{}: {}", index, code));
            job.lost_container();
        });
        return made;
    }
    std::vector<std::string> broken() const {
        std::vector<std::string> names;
        for (const Violation& violation : ledger.violations())
            names.push_back(violation.invariant + " " + violation.what);
        return names;
    }
    std::size_t live() {
        std::size_t sum = 0;
        for (const auto& pod : job.pods()) sum += pod->node.workers.live();
        return sum;
    }
    void TearDown() override { await(job.stop()); }

    Rng rng{3};
    Ledger ledger{clock};
    FaultWindows machine;
    std::vector<std::string> ended;
    ElasticJob job{context.get_executor(), clock, rng, ledger, "demo", {.work = 10min}};
};

TEST_F(ElasticJobTest, TrainsWithAllPodsAndEndsInEachWithZero) {
    for (int i = 0; i < 3; ++i) start(i);
    advance(20s);
    EXPECT_EQ(live(), 3u);
    advance(10min);
    EXPECT_THAT(ended, ::testing::UnorderedElementsAre("0: 0", "1: 0", "2: 0"));
    EXPECT_TRUE(job.rules().has_ended(job_protocol::Verdict::Kind::kSucceeded));
    job.job_changed(json::parse(kSucceeded));
    job.at_end();
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(ElasticJobTest, GoesOnWithoutAPodThatIsKilledAndWithItsSuccessor) {
    for (int i = 0; i < 3; ++i) start(i);
    advance(20s);
    job.pods().back()->kill(PodProgram::Death::kOfContainer);
    advance(10s);
    EXPECT_EQ(live(), 2u);
    start(2, 1);
    advance(20s);
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(ElasticJobTest, GoesOnWithANewMasterWhenThatOfItsHostDiesWithItsRecord) {
    for (int i = 0; i < 3; ++i) start(i);
    advance(20s);
    job.pods().front()->kill(PodProgram::Death::kOfMachine);
    advance(20s);
    EXPECT_EQ(live(), 2u) << "workers go on without a master";
    start(0, 1);
    advance(40s);
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(ElasticJobTest, APodThatMissedTheEndGivesTheMasterUpAndTrainsNoMore) {
    for (int i = 0; i < 2; ++i) start(i);
    advance(9min + 30s);
    elastic::SimulatedLink& link = job.pods().back()->node.link;
    link.set_partition(true, true);
    advance(5min);
    EXPECT_THAT(ended, ElementsAre("0: 0"));
    EXPECT_EQ(live(), 0u) << "those of the other one have ended with 0, too";
    link.set_partition(false, false);
    advance(10min);
    EXPECT_THAT(ended, ElementsAre("0: 0", "1: 1")) << "it does not know that this was the end";
    start(1);
    advance(11min);
    EXPECT_THAT(ended, ElementsAre("0: 0", "1: 1", "1: 1")) << "its restart finds no master";
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(ElasticJobTest, APodThatIsToldToStopEndsWithTheCodeOfTheSignal) {
    for (int i = 0; i < 2; ++i) start(i);
    advance(20s);
    job.pods().back()->terminate();
    advance(10s);
    EXPECT_THAT(ended, ElementsAre("1: 143"));
    EXPECT_EQ(live(), 1u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(ElasticJobTest, SuccessWithoutAMastersVerdictBreaksARule) {
    start(0);
    advance(10s);
    job.job_changed(json::parse(kSucceeded));
    EXPECT_THAT(broken(), ElementsAre("success demo: is Succeeded, and no master has said so"));
}

TEST_F(ElasticJobTest, RestartsOfContainersThatHaveNotEndedBreakARule) {
    start(0);
    ElasticPod& other = start(1);
    advance(10s);
    other.kill(PodProgram::Death::kOfContainer);
    job.lost_container();
    job.job_changed(json::parse(R"({"status":{"replicaStatuses":{"Worker":{"restarts":1}}}})"));
    advance(3min);
    EXPECT_THAT(broken(), IsEmpty());
    job.job_changed(json::parse(R"({"status":{"replicaStatuses":{"Worker":{"restarts":2}}}})"));
    job.at_end();
    EXPECT_THAT(
        broken(),
        ElementsAre("real-restarts demo: 2 restarts are counted, and 1 containers have ended"));
}

TEST_F(ElasticJobTest, APodThatIsGivenUpBeforeItsStartCountsAsEnded) {
    start(0);
    job.pod_given_up("never-started", false);
    job.pod_given_up("never-started", true);
    job.job_changed(json::parse(R"({"status":{"replicaStatuses":{"Worker":{"restarts":1}}}})"));
    job.at_end();
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(ElasticJobTest, WorkersThatOutliveTheirJobBreakARule) {
    start(0);
    advance(10s);
    job.job_changed(
        json::parse(R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})"));
    job.at_end();
    EXPECT_THAT(broken(), ElementsAre("workers-end demo: demo-worker-0 still runs workers"));
}

/// Workers that somebody else has started on a node, in a world that nobody made.
TEST_F(ElasticJobTest, WorkersOfTwoGenerationsBesideEachOtherBreakARule) {
    start(0);
    advance(10s);
    elastic::ElasticNode& other = start(1).node;
    other.kill_agent();
    job_protocol::World world{.generation = {.epoch = 1, .number = 1},
                              .members = {{.incarnation = "x", .address = other.name}},
                              .nodes = 1,
                              .ranks = 1};
    ASSERT_TRUE(await(other.workers.start(world, std::vector<launch::WorkerStart>(1))));
    other.fault_windows.back(clock.now());
    advance(2min);
    EXPECT_THAT(
        broken(),
        ::testing::Contains("one-world demo: workers of 2 generations have run beside each other"));
}

}  // namespace
}  // namespace muster::sim::elastic_job_test
