#include "sim/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::sim::world_test {
namespace {

Scenario scenario_of(std::string_view text) {
    auto scenario = read_scenario(json::parse(text));
    EXPECT_TRUE(scenario) << scenario.error().message();
    return scenario ? *std::move(scenario) : Scenario{};
}

constexpr std::string_view kCalm = R"({
    "jobs": [{"count": 3, "spacing": "1s..20s", "workers": "1..3"}],
    "pods": {"startDelay": "1s..3s", "runTime": "10s..60s"}})";

TEST(World, ACalmWorldKeepsTheRulesAndEveryJobSucceeds) {
    auto outcome = simulate(scenario_of(kCalm), {.seed = 1});
    ASSERT_TRUE(outcome) << outcome.error().message();
    for (const Violation& violation : outcome->violations)
        ADD_FAILURE() << violation.invariant << ": " << violation.what;
    ASSERT_EQ(outcome->jobs.size(), 3u);
    for (const JobOutcome& job : outcome->jobs) EXPECT_EQ(job.state, "Succeeded") << job.name;
    EXPECT_GT(outcome->changes, 20u);
}

TEST(World, ElasticJobsTrainWithAMasterInAPodOfItsOwn) {
    std::string lines;
    auto outcome = simulate(
        scenario_of(R"({
        "jobs": [{"count": 2, "kinds": ["ElasticJob"], "workers": "2..3", "nodeNum": 0.5}],
        "pods": {"startDelay": "1s..3s"},
        "training": {"work": "1m..2m", "workerStart": "5ms", "workerStop": "0..1s"}})"),
        {.seed = 1, .tell = [&lines](const HistoryLine& line) { lines += line.what + "\n"; }});
    ASSERT_TRUE(outcome) << outcome.error().message();
    for (const Violation& violation : outcome->violations)
        ADD_FAILURE() << violation.invariant << ": " << violation.what;
    for (const JobOutcome& job : outcome->jobs) {
        EXPECT_EQ(job.state, "Succeeded") << job.name;
        EXPECT_EQ(job.restarts, 0) << job.name;
        EXPECT_NE(
            lines.find(fmt::format("elasticjob-{}-dlrover-master-0: a master starts", job.name)),
            std::string::npos);
    }
}

TEST(World, EqualSeedsGiveEqualHashesAndOthersOthers) {
    const Scenario scenario = scenario_of(kCalm);
    const auto first = simulate(scenario, {.seed = 7});
    int lines = 0;
    const auto again =
        simulate(scenario, {.seed = 7, .tell = [&](const HistoryLine&) { ++lines; }});
    const auto other = simulate(scenario, {.seed = 8});
    EXPECT_EQ(first->hash, again->hash) << "watching must change nothing";
    EXPECT_GT(lines, 20);
    EXPECT_NE(first->hash, other->hash);
}

}  // namespace
}  // namespace muster::sim::world_test
