#pragma once

#include <string>
#include <vector>

#include "agent/first_cause.h"
#include "agent/workers.h"

namespace muster::run {

/// Workers whose failures are remembered, for the report at the end. Refers to the others.
class RememberedEnds final : public agent::Workers {
  public:
    explicit RememberedEnds(agent::Workers& workers) : workers_(workers) {}

    std::optional<master::World> running() const override { return workers_.running(); }
    Task<Result<void>> start(master::World world, std::vector<agent::WorkerStart> starts) override;
    Task<agent::WorkerEnd> next_end() override;
    Task<void> stop(Duration grace) override { return workers_.stop(grace); }
    std::optional<std::uint64_t> steps() const override { return workers_.steps(); }

    /// Of the set that ran last, with what their error files say.
    const std::vector<agent::Failure>& failures() const { return failures_; }

  private:
    agent::Workers& workers_;
    std::vector<agent::Failure> failures_;
};

}  // namespace muster::run
