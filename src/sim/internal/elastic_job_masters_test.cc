// Jobs whose master is in a pod of its own.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_loop.h"
#include "sim/internal/elastic_job.h"

namespace muster::sim::elastic_job_masters_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// Pods "demo-worker-0" and on and "demo-master-0" and on, whose containers start and end as a test
/// says.
class MastersInPodsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    static launch::LaunchPlan plan(int rank) {
        launch::LaunchPlan made;
        made.rendezvous.where = launch::Rendezvous::Where::kElsewhere;
        made.rendezvous.endpoints = {{"demo-master", 50001}};
        made.rendezvous.slot = rank;
        made.nodes = {1, 4};
        made.times.last_call = 1s;
        for (job_protocol::Budget& budget : made.budgets) budget.incidents = 3;
        return made;
    }
    static json::value pod(std::string_view type, int id) {
        return json::parse(
            fmt::format(R"({{"metadata":{{"name":"demo-{0}-{1}","uid":"{0}-{1}"}}}})", type, id));
    }
    ElasticPod& worker(int rank, int id) {
        ElasticPod& made = job.pod_of(pod("worker", id), plan(rank),
                                      {rank, fmt::format("10.0.0.{}", id), machine}, {});
        job.start(made, plan(rank), [this, id](std::int32_t code) {
            ended.push_back(fmt::format("worker-{}: {}", id, code));
            job.lost_container();
        });
        return made;
    }
    MasterPod& master(int id) {
        MasterPod& made = job.master_of(pod("master", id), {3, "10.1.0.1", machine_of_master});
        made.start({.job = "demo", .records_file = "/record", .successor = id > 0},
                   [this, id](std::int32_t code) {
                       ended.push_back(fmt::format("master-{}: {}", id, code));
                       job.lost_container();
                   });
        return made;
    }
    void three_workers_train() {
        master(0);
        for (int i = 0; i < 3; ++i) worker(i, i);
        advance(20s);
        ASSERT_EQ(live(), 3u);
        ASSERT_EQ(job.rules().worlds(), 1u);
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
    FaultWindows machine_of_master;
    std::vector<std::string> ended;
    ElasticJob job{context.get_executor(), clock, rng, ledger, "demo", {.work = 10min}};
};

TEST_F(MastersInPodsTest, AJobTrainsAndItsMasterEndsWithZeroToo) {
    three_workers_train();
    advance(11min);
    EXPECT_THAT(ended,
                UnorderedElementsAre("worker-0: 0", "worker-1: 0", "worker-2: 0", "master-0: 0"));
    EXPECT_TRUE(job.rules().has_ended(job_protocol::Verdict::Kind::kSucceeded));
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInPodsTest, AMasterThatIsKilledDisturbsNoWorker) {
    three_workers_train();
    job.masters().front()->kill(PodProgram::Death::kOfContainer);
    advance(60s);
    EXPECT_EQ(live(), 3u) << "they need none";
    master(1);
    advance(60s);
    EXPECT_EQ(live(), 3u);
    EXPECT_EQ(job.rules().worlds(), 1u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInPodsTest, AMasterWhoseMachineDiesDisturbsNoWorker) {
    three_workers_train();
    machine_of_master.gone(clock.now());
    job.masters().front()->kill(PodProgram::Death::kOfMachine);
    advance(3s);
    master(1);
    advance(60s);
    EXPECT_EQ(live(), 3u);
    EXPECT_EQ(job.rules().worlds(), 1u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInPodsTest, AWorkerThatDiesWhileTheMasterIsAwayRunsAgainSoonAfterTheNextIsThere) {
    three_workers_train();
    job.masters().front()->kill(PodProgram::Death::kOfContainer);
    ASSERT_TRUE(job.pods().front()->node.workers.end(0, {.exit_code = 1}));
    advance(30s);
    EXPECT_EQ(live(), 2u) << "nothing decides about it";
    master(1);
    advance(3s);
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInPodsTest, AReplacementUnderANewIdTakesTheRankOfAPodThatDies) {
    three_workers_train();
    job.pods().back()->kill(PodProgram::Death::kOfContainer);
    advance(10s);
    EXPECT_EQ(live(), 2u);
    worker(2, 3);
    advance(20s);
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInPodsTest, AMasterThatIsToldToStopEndsWithTheCodeOfTheSignal) {
    three_workers_train();
    job.masters().front()->terminate();
    advance(10s);
    EXPECT_THAT(ended, ElementsAre("master-0: 143"));
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInPodsTest, AMasterThatIsKilledWhileItStopsTellsNoEnd) {
    three_workers_train();
    job.masters().front()->terminate();
    job.masters().front()->kill(PodProgram::Death::kOfContainer);
    advance(10s);
    EXPECT_THAT(ended, IsEmpty());
    EXPECT_EQ(live(), 3u);
}

/// Its machine is cut off from all others, which have another master by then.
TEST_F(MastersInPodsTest, AMasterThatComesBackFromACutOffMachineIsObeyedByNone) {
    three_workers_train();
    job.masters().front()->cut_off(true);
    machine_of_master.partition(true, clock.now());
    advance(20s);
    master(1);
    advance(60s);
    job.masters().front()->cut_off(false);
    machine_of_master.partition(false, clock.now());
    advance(60s);
    EXPECT_EQ(live(), 3u);
    job.masters().front()->terminate();
    advance(10s);
    EXPECT_THAT(ended, ElementsAre("master-0: 143"));
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

/// Nothing is told that follows from what is not written, so what is left of the world before runs on.
TEST_F(MastersInPodsTest, TwoWorldsMayRunBesideEachOtherWhileTheRecordCantBeWritten) {
    three_workers_train();
    elastic::SimulatedLink& link = job.pods().back()->node.link;
    link.set_partition(true, true);
    advance(20s);
    ASSERT_EQ(job.rules().worlds(), 2u);
    job.set_record_faults([] { return master::MemoryRecords::Fault::kFails; });
    ASSERT_TRUE(job.pods().front()->node.workers.end(0, {.exit_code = 1}));
    link.set_partition(false, false);
    job.set_api_away(true);
    advance(10s);
    job.set_api_away(false);
    advance(3min);
    EXPECT_EQ(live(), 2u) << "one of each world";
    EXPECT_THAT(broken(), IsEmpty());
    job.set_record_faults({});
    advance(60s);
    EXPECT_EQ(live(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

/// What is wrong with the way to it excuses, that it died does not.
TEST_F(MastersInPodsTest, HealthyWorkersThatStopWhenTheMasterDiesBreakARule) {
    three_workers_train();
    machine_of_master.gone(clock.now());
    job.masters().front()->kill(PodProgram::Death::kOfMachine);
    advance(10s);
    await(job.pods().front()->node.workers.stop(1s));
    EXPECT_THAT(broken(), Contains(HasSubstr("healthy-stop demo: ")));
}

}  // namespace
}  // namespace muster::sim::elastic_job_masters_test
