#include "sim/world.h"

#include <fmt/format.h>

#include "base/log.h"
#include "sim/elastic/elastic_run.h"
#include "sim/internal/world.h"

namespace muster::sim {

namespace {

/// What is logged in a world is about faults that are meant.
class Unlogged {
  public:
    Unlogged() {
        log::set_sink([](log::Level, std::string_view) {});
    }
    ~Unlogged() { log::set_sink({}); }
};

SimulationOutcome simulate_agents(const AgentsAlone& agents, const SimulationOptions& options) {
    const Unlogged unlogged;
    elastic::ElasticRun run = elastic::run_elastic(options.seed, {.least_nodes = agents.nodes.first,
                                                                  .most_nodes = agents.nodes.second,
                                                                  .faults = agents.faults,
                                                                  .time = agents.time});
    History history(options.tell);
    for (auto& [at, line] : run.lines) history.happened(at, "elastic", std::move(line));
    history.happened(run.end, "elastic", fmt::format("the end, {:016x}", run.unseed));
    SimulationOutcome outcome;
    outcome.violations = std::move(run.violations);
    outcome.hash = history.hash();
    outcome.virtual_time = run.end.time_since_epoch();
    AgentsOutcome& of_agents = outcome.agents.emplace();
    for (const auto& [kind, times] : run.faults) of_agents.faults[std::string(kind)] = times;
    of_agents.worlds = run.worlds;
    of_agents.recovery = run.recovery;
    of_agents.failed = run.failed;
    return outcome;
}

}  // namespace

Result<SimulationOutcome> simulate(const Scenario& scenario, const SimulationOptions& options) {
    if (scenario.agents_alone) return simulate_agents(*scenario.agents_alone, options);
    World world(scenario, options);
    return world.run();
}

}  // namespace muster::sim
