#include "sim/world.h"

#include "sim/internal/world.h"

namespace muster::sim {

Result<SimulationOutcome> simulate(const Scenario& scenario, const SimulationOptions& options) {
    World world(scenario, options);
    return world.run();
}

}  // namespace muster::sim
