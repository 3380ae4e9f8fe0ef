#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "kube/values/json.h"
#include "sim/world.h"

namespace muster::cli {

// How a run ended, for people and for programs. Pure.

/// The invariants of the simulation were violated; that is not the job's fault.
inline constexpr int kRulesBroken = 3;
inline constexpr int kNotEnded = 124;

/// As they are written: 93.417, never rounded to seconds.
double seconds(Duration duration);
/// "PyTorchJob default/a Succeeded after 93.417 s, 2 restarts (its message)".
std::string describe(const sim::JobOutcome& job);
/// `scenario`: its jobs fail on purpose.
int exit_status(const sim::SimulationOutcome& outcome, bool scenario);
/// All but the timeline.
json::object to_json(const sim::SimulationOutcome& outcome, std::uint64_t seed);

}  // namespace muster::cli
