#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/rng.h"
#include "base/time/clock.h"
#include "sim/internal/elastic_pods.h"
#include "sim/scenario.h"

namespace muster::sim {

/// What goes wrong with agents, their workers, links and records, one at a time: each method lets
/// one thing happen to a pod of its choice, and notes what, if there is one to which it can.
///
/// All that it is given outlives it. Thread: one loop.
class TrainingFaultInjector {
  public:
    TrainingFaultInjector(ElasticPods& pods, Clock& clock, Rng& rng, const TrainingFaults& faults,
                          std::function<void(std::string)> note)
        : pods_(pods), clock_(clock), rng_(rng), faults_(faults), note_(std::move(note)) {}

    Task<void> kill_worker();
    Task<void> cut_link();
    Task<void> cut_late();
    Task<void> cut_half();
    Task<void> partition();
    Task<void> slow_link();
    Task<void> lose_records();
    /// All that lasts.
    void heal_all();

  private:
    ElasticPod* any();
    /// Whose pod is an agent's, or a master's.
    struct Link {
        const std::string& name;
        elastic::SimulatedLink& link;
    };
    std::optional<Link> any_link();
    elastic::SimulatedWorkers::Death death();

    ElasticPods& pods_;
    Clock& clock_;
    Rng& rng_;
    const TrainingFaults& faults_;
    std::function<void(std::string)> note_;
};

}  // namespace muster::sim
