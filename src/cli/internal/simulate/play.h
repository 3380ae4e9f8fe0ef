#pragma once

#include "cli/internal/simulate/simulate_options.h"
#include "cli/internal/simulate/simulation_input.h"

namespace muster::cli {

/// Plays the input with one seed or with many, prints what comes of it, and returns the exit status:
/// the worst of the runs.
int play(const SimulateOptions& options, const SimulationInput& input);

/// The command that shows that run as it happened.
std::string replay(const SimulateOptions& options, std::uint64_t seed);

}  // namespace muster::cli
