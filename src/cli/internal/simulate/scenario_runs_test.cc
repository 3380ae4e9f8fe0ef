// Whole simulated worlds, as `muster simulate` plays them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_seeds.h"
#include "cli/internal/simulate/simulation_input.h"
#include "sim/builtin_scenarios.h"
#include "sim/world.h"

namespace muster::cli::scenario_runs_test {
namespace {

/// Of which each run plays one: ./dev test plays hundreds of seeds with the release build.
constexpr std::uint64_t kSeeds = 16;

class BuiltinScenarios : public ::testing::TestWithParam<sim::BuiltinScenario> {};

TEST_P(BuiltinScenarios, KeepTheRules) {
    const SimulationInput input = read_scenario_text(GetParam().text, "scenario");
    for (const manifest::Problem& problem : input.problems) ADD_FAILURE() << format(problem);
    ASSERT_FALSE(HasFailure());
    for (const std::uint64_t seed : seeds_of_this_run(kSeeds, kSeeds)) {
        const auto outcome = sim::simulate(input.scenario, {.seed = seed, .tell = {}});
        ASSERT_TRUE(outcome) << outcome.error().message();
        for (const sim::Violation& violation : outcome->violations)
            ADD_FAILURE() << violation.invariant << ": " << violation.what
                          << "\nreplay: ./dev drill sim " << GetParam().name << " --seed " << seed
                          << " --trace";
        if (HasFailure()) break;
    }
}

INSTANTIATE_TEST_SUITE_P(All, BuiltinScenarios, ::testing::ValuesIn(sim::builtin_scenarios()),
                         [](const auto& tested) {
                             std::string name(tested.param.name);
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

struct Faults {
    const char* scenario;
    std::vector<std::string> told;  ///< in lines about faults, each at least once
};

class FaultsOfScenarios : public ::testing::TestWithParam<Faults> {};

sim::Scenario scenario_named(std::string_view name) {
    for (const sim::BuiltinScenario& builtin : sim::builtin_scenarios())
        if (builtin.name == name) return read_scenario_text(builtin.text, "scenario").scenario;
    ADD_FAILURE() << "no scenario " << name;
    return {};
}

TEST_P(FaultsOfScenarios, ReallyHappen) {
    const sim::Scenario scenario = scenario_named(GetParam().scenario);
    std::vector<std::string> missing = GetParam().told;
    constexpr std::uint64_t kMostSeeds = 40;
    for (std::uint64_t seed = 1; seed <= kMostSeeds && !missing.empty(); ++seed) {
        std::string lines;
        ASSERT_TRUE(
            sim::simulate(scenario, {.seed = seed, .tell = [&](const sim::HistoryLine& line) {
                                         lines += fmt::format("{}: {}\n", line.who, line.what);
                                     }}));
        std::erase_if(missing, [&](const std::string& told) {
            return lines.find(told) != std::string::npos;
        });
    }
    EXPECT_EQ(missing, std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultsOfScenarios,
    ::testing::Values(
        Faults{"lossy-api",
               {"a request is lost", "a watch is lost", "a write times out without effect",
                "a write times out with effect", "too many requests", "a request is on its way",
                "an answer is on its way"}},
        Faults{"conflicts", {"operator-1: a conflict"}},
        Faults{"stale-caches",
               {"a list as of revision", "a list expires", "a watch is refused with 410",
                "a watch expires", "a watch breaks", "an event comes twice", "an event lags"}},
        Faults{"node-death", {"dies", "is back", "(NodeLost)"}},
        Faults{"node-silence", {"falls silent", "is back", "s late"}},
        Faults{"evictions", {"is evicted", "is killed", "(Evicted)", "user: pod"}},
        Faults{"crashes",
               {"operator-1 crashes before a write", "operator-1 crashes after a write",
                "operator-1 crashes\n"}},
        Faults{"two-operators", {"operator-1: pod", "operator-2: pod"}},
        Faults{"clock-jumps", {"the calendar is set by -", "the calendar is set by "}},
        Faults{"limits", {"reached the specified backoff limit", "active longer than"}},
        Faults{"groups", {"All of its pods restart together", "is evicted"}},
        Faults{"elastic-pods",
               {"fault: a worker of", "are cut\n", "and what it has said comes late",
                "and it does not know", "and others do not know", "nothing gets to or from",
                "nothing gets out of", "nothing gets into", "is slow", "masters' records fail",
                "is evicted", "is killed", "node-0 dies", "falls silent", "user: pod",
                "the program's work is done", "a master starts", "charged for"}},
        Faults{"elastic-chaos",
               {"operator-1 crashes", "a request is lost", "the calendar is set by",
                "the connections of", "a worker of", "masters' records fail", "a master starts"}},
        Faults{"elastic-jobs",
               {"dlrover-master-0 is killed", "the API is away", "the API is back",
                "operator-1 crashes", "a worker of", "the connections of elasticjob-job-",
                "masters' records fail", "node-0 dies", "falls silent", "is evicted", "user: pod",
                "user: elasticjobs", "user: scaleplans", "is executed.", "charged for",
                "dlrover-master-1"}},
        Faults{"elastic", {"is cut", "is killed", "is lost", "falls silent", "records fail"}},
        Faults{"meddling",
               {"PyTorchJobSuspended", "PyTorchJobResumed", "user: pod", "user: services",
                "user: pytorchjobs"}}),
    [](const auto& tested) {
        std::string name(tested.param.scenario);
        std::ranges::replace(name, '-', '_');
        return name;
    });

TEST(BuiltinScenarios, EqualSeedsGiveEqualRunsOfAgentsToo) {
    for (const char* name : {"elastic", "elastic-pods", "elastic-chaos", "elastic-jobs"}) {
        const sim::Scenario scenario = scenario_named(name);
        for (const std::uint64_t seed : seeds_of_this_run(kSeeds, kSeeds)) {
            const auto one = sim::simulate(scenario, {.seed = seed, .tell = {}});
            const auto other = sim::simulate(scenario, {.seed = seed, .tell = {}});
            ASSERT_TRUE(one && other) << name << " " << seed;
            EXPECT_EQ(one->hash, other->hash) << name << " " << seed;
        }
    }
}

TEST(FaultPoints, OfTheCodeChangeTheCourseOfThings) {
    const sim::Scenario with = scenario_named("fault-points");
    sim::Scenario without = with;
    without.fault_sites = 0;
    int changed = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        changed += sim::simulate(with, {.seed = seed, .tell = {}})->hash !=
                   sim::simulate(without, {.seed = seed, .tell = {}})->hash;
    EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace muster::cli::scenario_runs_test
