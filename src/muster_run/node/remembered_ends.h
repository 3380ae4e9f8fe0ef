#pragma once

#include <string>
#include <vector>

#include "workers/first_cause.h"
#include "workers/local/local_workers.h"
#include "workers/workers.h"

namespace muster::run {

/// Workers whose failures are remembered, for the report at the end. Refers to the others.
class RememberedEnds final : public workers::Workers {
  public:
    explicit RememberedEnds(workers::LocalWorkers& workers) : workers_(workers) {}

    std::optional<job_protocol::World> running() const override { return workers_.running(); }
    Task<Result<void>> start(job_protocol::World world,
                             std::vector<launch::WorkerStart> starts) override;
    Task<workers::WorkerEnd> next_end() override;
    Task<void> stop(Duration grace) override;
    std::optional<std::uint64_t> steps() const override { return workers_.steps(); }

    /// Of the set that ran last, with what their error files say.
    const std::vector<workers::Failure>& failures() const { return failures_; }

  private:
    workers::LocalWorkers& workers_;
    std::vector<workers::Failure> failures_;
};

}  // namespace muster::run
