#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/simulate/simulate_options.h"
#include "manifest/problem.h"
#include "sim/scenario.h"

namespace muster::cli {

struct SimulationInput {
    sim::Scenario scenario;
    bool is_scenario = false;  ///< the file was a scenario; otherwise it held manifests
    std::vector<manifest::Problem> problems;
};

/// Reads the manifests or the scenario that `options` name, and the faults to go with them. A name
/// that is neither a file nor a scenario is a problem.
SimulationInput read_simulation_input(const SimulateOptions& options);

/// What --faults may name, a line each with what goes wrong then. Pure.
std::string fault_list();

/// A scenario from text; problems carry `source`, line and column. Pure.
SimulationInput read_scenario_text(std::string_view text, const std::string& source);

}  // namespace muster::cli
