#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_seeds.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_foreign_status_test {
namespace {

using namespace std::chrono_literals;

// A job's status can be written by everybody who has that right in its namespace.

json::object condition(std::string_view type, std::string_view status) {
    return {{"type", type},
            {"status", status},
            {"reason", "Foreign"},
            {"message", ""},
            {"lastUpdateTime", "2026-01-01T00:00:00Z"},
            {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
}

Result<kube::Written> write_status(World& world, const std::string& job, json::object status) {
    auto found = world.object(pytorch().resource, job);
    if (!found) return Error(Code::kNotFound, "there is no such job");
    found->as_object()["status"] = std::move(status);
    return world.wait(
        world.client.update(pytorch().resource, "default", job, *std::move(found), "status"));
}

/// What the operator deletes meanwhile is left out.
void set_all_that_stay(World& world, std::string_view phase) {
    for (const std::string& pod : world.pods())
        if (world.object(kube::types::kPods, pod)) world.set_phase(pod, phase);
}

bool other_job_runs(World& world, const std::string& name) {
    world.create_job({.name = name});
    world.settle();
    set_all_that_stay(world, "Running");
    world.settle();
    return world.status(name).is("Running");
}

TEST(OperatorForeignStatusTest, ATransitionThatIsInNoTableDoesNotEndTheOperator) {
    World world;
    world.create_job({.name = "demo"});
    // When it is resumed, it is Running: no job of ours goes there from Suspended.
    auto written = write_status(
        world, "demo",
        {{"conditions", json::array{condition("Created", "True"), condition("Running", "True"),
                                    condition("Suspended", "True")}}});
    ASSERT_TRUE(written.has_value()) << written.error().message();
    world.start_operator();
    world.settle();
    world.set_all("Running");
    world.settle();
    EXPECT_TRUE(world.status("demo").is("Running"));
    EXPECT_FALSE(world.status("demo").is("Suspended"));
    EXPECT_TRUE(other_job_runs(world, "other"));
}

class ForeignStatus {
  public:
    explicit ForeignStatus(Rng& rng) : rng_(rng) {}

    json::object make() {
        json::object status;
        json::array conditions;
        for (const char* type : {"Created", "Running", "Restarting", "Suspended", "Succeeded",
                                 "Failed", "Foreign", ""}) {
            if (rng_.chance(0.4)) conditions.push_back(condition(type, text()));
            if (rng_.chance(0.05)) conditions.push_back(condition(type, text()));
        }
        if (rng_.chance(0.9)) status["conditions"] = std::move(conditions);
        json::object replicas;
        for (const char* type : {"Master", "Worker", "Foreign"}) {
            if (rng_.chance(0.4)) continue;
            json::object counts;
            for (const char* count : {"active", "succeeded", "failed", "restarts"})
                if (rng_.chance(0.5)) counts[count] = number();
            replicas[type] = std::move(counts);
        }
        if (rng_.chance(0.8)) status["replicaStatuses"] = std::move(replicas);
        for (const char* time :
             {"startTime", "completionTime", "lastReconcileTime", "lastRestartTime"})
            if (rng_.chance(0.4)) status[time] = when();
        for (const char* count : {"restartGeneration", "restartsInARow"})
            if (rng_.chance(0.3)) status[count] = number();
        return status;
    }

  private:
    std::string_view text() {
        return rng_.chance(0.6) ? "True" : rng_.chance(0.5) ? "False" : "Unknown";
    }
    std::int32_t number() {
        constexpr std::int32_t kNumbers[] = {0,
                                             1,
                                             -1,
                                             7,
                                             std::numeric_limits<std::int32_t>::max(),
                                             std::numeric_limits<std::int32_t>::min()};
        return kNumbers[rng_.below(std::size(kNumbers))];
    }
    std::string_view when() {
        constexpr std::string_view kTimes[] = {"2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
                                               "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z"};
        return kTimes[rng_.below(std::size(kTimes))];
    }

    Rng& rng_;
};

class OperatorForeignStatusTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(OperatorForeignStatusTest, NoStatusDisturbsAnotherJob) {
    Rng rng(GetParam());
    World world(GetParam());
    JobSketch sketch{.name = "demo",
                     .policy = rng.chance(0.5) ? "OnFailure" : "ExitCode",
                     .suspend = rng.chance(0.3)};
    if (rng.chance(0.5)) sketch.backoff_limit = 2;
    world.create_job(sketch);
    world.start_operator();
    for (int step = 0; step < 6; ++step) {
        const json::object status = ForeignStatus(rng).make();
        SCOPED_TRACE(json::serialize(status));
        auto written = write_status(world, "demo", status);
        EXPECT_TRUE(written.has_value() || written.error().code() == Code::kInvalid)
            << written.error().message();
        world.settle();
        if (rng.chance(0.5)) set_all_that_stay(world, rng.chance(0.7) ? "Running" : "Failed");
        if (rng.chance(0.3)) world.suspend_job("demo", rng.chance(0.5));
        if (rng.chance(0.3)) world.restart_operator();
        if (rng.chance(0.3)) world.outlast_pause();
        world.reap();
        EXPECT_TRUE(other_job_runs(world, fmt::format("other-{}", step)));
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OperatorForeignStatusTest,
                         ::testing::ValuesIn(seeds_of_this_run(250, 25)));

}  // namespace
}  // namespace muster::operators::operator_foreign_status_test
