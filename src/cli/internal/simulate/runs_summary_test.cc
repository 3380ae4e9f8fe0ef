#include "cli/internal/simulate/runs_summary.h"

#include <gtest/gtest.h>

namespace muster::cli::runs_summary_test {
namespace {

using namespace std::chrono_literals;

sim::SimulationOutcome run(std::string state, std::optional<Duration> took, std::int64_t restarts) {
    sim::SimulationOutcome outcome;
    outcome.jobs.push_back({.kind = "PyTorchJob",
                            .namespace_ = "default",
                            .name = "a",
                            .state = std::move(state),
                            .message = {},
                            .deleted = false,
                            .restarts = restarts,
                            .completion_time = {},
                            .took = took});
    return outcome;
}

TEST(RunsSummary, TellsHowOftenAJobEndedHowAndHowLongThatTook) {
    RunsSummary summary;
    for (int i = 1; i <= 100; ++i) summary.add(run("Succeeded", i * 1s + 250ms, i / 50));
    summary.add(run("Failed", 500s, 7));
    summary.add(run("Running", std::nullopt, 0));
    EXPECT_EQ(summary.text(),
              "muster: PyTorchJob default/a: 100 succeeded, 1 failed, 1 had not ended\n"
              "muster:   seconds   p50 51.250, p90 91.250, p99 100.250, most 500.000\n"
              "muster:   restarts  p50 1, p90 1, p99 2, most 7\n");
    const json::array told = summary.to_json();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].at("unfinished").as_uint64(), 1U);
    EXPECT_EQ(told[0].at("durationSeconds").at("p90").as_double(), 91.25);
    EXPECT_EQ(told[0].at("restarts").at("most").as_double(), 7);
}

TEST(RunsSummary, OneRunIsAllOfItsPercentiles) {
    RunsSummary summary;
    summary.add(run("Succeeded", 3s, 2));
    EXPECT_EQ(summary.text(),
              "muster: PyTorchJob default/a: 1 succeeded, 0 failed\n"
              "muster:   seconds   p50 3.000, p90 3.000, p99 3.000, most 3.000\n"
              "muster:   restarts  p50 2, p90 2, p99 2, most 2\n");
}

TEST(RunsSummary, ADeletedJobHasNoDuration) {
    RunsSummary summary;
    sim::SimulationOutcome outcome = run("", std::nullopt, 0);
    outcome.jobs[0].deleted = true;
    summary.add(outcome);
    EXPECT_EQ(summary.text(), "muster: PyTorchJob default/a: 0 succeeded, 0 failed, 1 deleted\n");
    EXPECT_TRUE(summary.to_json()[0].at("durationSeconds").is_null());
}

TEST(RunsSummary, NothingIsToldOfNothing) {
    EXPECT_EQ(RunsSummary().text(), "");
    EXPECT_TRUE(RunsSummary().to_json().empty());
}

}  // namespace
}  // namespace muster::cli::runs_summary_test
