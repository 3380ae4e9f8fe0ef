#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/history.h"
#include "sim/invariants.h"
#include "sim/scenario.h"

namespace muster::sim {

struct SimulationOptions {
    std::uint64_t seed = 1;
    /// What happens, as it happens. Empty: no lines are made.
    History::Sink tell = {};
};

/// How a job stood at the end; of one that was deleted, when it was last seen.
struct JobOutcome {
    std::string kind;
    std::string namespace_;
    std::string name;
    std::string state;    ///< its last true condition
    std::string message;  ///< of that
    bool deleted = false;
    std::int64_t restarts = 0;  ///< as its status says
    std::string completion_time;
    std::optional<Duration> took;  ///< from its making to its end; unset: it has not ended
};

/// What there was of the elastic layer in a run of agents alone.
struct AgentsOutcome {
    std::map<std::string, int> faults;  ///< how many of each kind
    std::size_t worlds = 0;
    Duration recovery{};  ///< the longest, from the last fault until all ran that can
    bool failed = false;  ///< the job, by its own budget
};

struct SimulationOutcome {
    std::vector<Violation> violations;
    std::vector<JobOutcome> jobs;
    std::uint64_t hash = 0;
    std::uint64_t changes = 0;  ///< committed
    std::uint64_t pods = 0;     ///< created
    Duration virtual_time{};
    std::optional<AgentsOutcome> agents;
};

/// Makes a world, lets it go its way, checks it and takes it apart. The same scenario and seed give
/// the same outcome, hash included. Nothing of it depends on the machine or the hour. Fails when
/// a manifest of the scenario is refused by the API.
Result<SimulationOutcome> simulate(const Scenario& scenario, const SimulationOptions& options);

}  // namespace muster::sim
