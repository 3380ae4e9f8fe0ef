#include "cli/internal/simulate/simulation_input.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/internal/command_line/command_line.h"
#include "sim/builtin_scenarios.h"

namespace muster::cli {
namespace {

using namespace std::chrono_literals;

TEST(Help, NamesEveryScenario) {
    for (const sim::BuiltinScenario& scenario : sim::builtin_scenarios())
        EXPECT_NE(help_text("simulate").find(scenario.name), std::string_view::npos)
            << scenario.name;
}

TEST(SimulationInput, AgentsAloneTakeNoFaultsAndNoTimesOfAnotherWorld) {
    for (SimulateOptions options :
         {SimulateOptions{.files = {"elastic"}, .nodes = {}, .faults = "chaos", .duration = {}},
          SimulateOptions{.files = {"elastic"}, .nodes = {}, .faults = {}, .duration = 10min},
          SimulateOptions{.files = {"calm"}, .nodes = {}, .faults = "elastic", .duration = {}}}) {
        const SimulationInput input = read_simulation_input(options);
        ASSERT_EQ(input.problems.size(), 1U) << options.files.front() << " " << options.faults;
        EXPECT_NE(format(input.problems.front()).find("agents alone have"), std::string::npos)
            << format(input.problems.front());
    }
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
}  // namespace muster::cli
