#include "cli/internal/simulate/simulation_input.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/internal/command_line/command_line.h"
#include "sim/builtin_scenarios.h"

namespace muster::cli::simulation_input_test {
namespace {

using namespace std::chrono_literals;

TEST(Help, NamesEveryScenario) {
    for (const sim::BuiltinScenario& scenario : sim::builtin_scenarios())
        EXPECT_NE(help_text("simulate").find(scenario.name), std::string_view::npos)
            << scenario.name;
}

TEST(SimulationInput, AgentsAloneTakeNoFaultsAndNoTimesOfAnotherWorld) {
    for (SimulateOptions options : {SimulateOptions{.files = {"elastic"}, .faults = "chaos"},
                                    SimulateOptions{.files = {"elastic"}, .duration = 10min},
                                    SimulateOptions{.files = {"calm"}, .faults = "elastic"}}) {
        const SimulationInput input = read_simulation_input(options);
        ASSERT_EQ(input.problems.size(), 1U) << options.files.front() << " " << options.faults;
        EXPECT_NE(format(input.problems.front()).find("agents alone have"), std::string::npos)
            << format(input.problems.front());
    }
}

TEST(SimulationInput, FlagsOfManifestsAreRefusedForAScenario) {
    const SimulationInput input = read_simulation_input(
        {.files = {"calm"}, .manifest_flags = {"--set", "spec.runPolicy.backoffLimit=1"}});
    ASSERT_EQ(input.problems.size(), 1U);
    EXPECT_NE(format(input.problems.front()).find("--set is for manifests"), std::string::npos);
}

TEST(SimulationInput, AnUnknownNameIsToldWithThoseThereAre) {
    for (const char* faults : {"zzz", "evictoins", "nowhere.yaml"}) {
        const SimulationInput input = read_simulation_input({.files = {"calm"}, .faults = faults});
        ASSERT_EQ(input.problems.size(), 1U) << faults;
        const std::string told = format(input.problems.front());
        const bool name = std::string_view(faults).find('.') == std::string_view::npos;
        EXPECT_EQ(told.find("no scenario has that name") != std::string::npos, name) << told;
        EXPECT_EQ(told.find("evictions") != std::string::npos, name) << told;
    }
}

TEST(FaultList, HasALineForEachScenarioWhoseFaultsCanBeTaken) {
    const std::string list = fault_list();
    for (const sim::BuiltinScenario& scenario : sim::builtin_scenarios()) {
        const bool alone = scenario.name == "elastic";
        EXPECT_EQ(("\n" + list).find(fmt::format("\n{} ", scenario.name)) != std::string::npos,
                  !alone)
            << scenario.name;
    }
    EXPECT_NE(list.find("evictions      Pods are evicted, killed, and deleted by somebody.\n"),
              std::string::npos);
}

TEST(SimulationInput, AWrongScenarioIsRefusedWithEveryPlace) {
    const SimulationInput input = read_scenario_text(
        "nodes: 0\n"
        "jobs:\n"
        "- workrs: 3\n"
        "pods:\n"
        "  runTime: soon\n"
        "  exits: {300: 1}\n"
        "api: {conflict: 1.5}\n"
        "clockJumps: {every: 1s..0s}\n",
        "bad.yaml");
    std::vector<std::string> said;
    for (const manifest::Problem& problem : input.problems) said.push_back(format(problem));
    const std::vector<std::string> wanted = {
        "bad.yaml:1:8: error: nodes: must be a whole number from 1 to 100000",
        "bad.yaml:3:3: error: jobs[0].workrs: no such field; did you mean workers?",
        "bad.yaml:5:12: error: pods.runTime: must be a time span or a range of two, such as 5s..2m",
        "bad.yaml:6:16: error: pods.exits.300: must be an exit code from 0 to 255 and its weight",
        "bad.yaml:7:17: error: api.conflict: must be a probability, from 0 to 1",
        "bad.yaml:8:21: error: clockJumps.every: must be a time span or a range of two, such as "
        "5s..2m"};
    for (const std::string& line : wanted)
        EXPECT_NE(std::find(said.begin(), said.end(), line), said.end())
            << line << "\nsaid:\n"
            << fmt::format("{}", fmt::join(said, "\n"));
    EXPECT_EQ(said.size(), wanted.size());
}

}  // namespace
}  // namespace muster::cli::simulation_input_test
