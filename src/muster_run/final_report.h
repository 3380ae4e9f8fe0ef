#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/worker_state.h"
#include "launch/plan.h"
#include "workers/first_cause.h"

namespace muster::run {

/// How a run of this program ended, for whoever started it.
struct FinalReport {
    int exit_code = 0;      ///< of muster_run()
    std::string text = {};  ///< for stderr, with its line ends; empty: nothing is to be said
};

/// What of this node the report names.
struct NodeOutcome {
    agent::AgentEnd end;
    std::optional<int> signal = {};               ///< that was sent to this program
    std::string address = {};                     ///< this node's
    std::vector<workers::Failure> failures = {};  ///< of the workers that ran last
};

/// Pure.
FinalReport final_report(const launch::LaunchPlan& plan, const NodeOutcome& outcome);

}  // namespace muster::run
