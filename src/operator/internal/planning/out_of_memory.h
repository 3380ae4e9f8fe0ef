#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/planning/job_outcome.h"

namespace muster::operators {

/// Gives replicas that ran out of memory more of it, of jobs that say so, one after the other until the
/// job may not request more. For one plan. Refers to all its arguments.
class MemoryRaises {
  public:
    MemoryRaises(const JobRecord& job, std::span<const ReplicaTypeState> states,
                 const Dependents& dependents)
        : job_(job), states_(states), dependents_(dependents) {}

    /// Notes in the state what the ranks of those of these replicas have from now on that ran out of
    /// memory, and what people are told of them.
    void raise(ReplicaTypeState& state, std::span<const std::int32_t> ids);
    /// The same for all whose pods have failed.
    void raise_all_failed(ReplicaTypeState& state);

  private:
    std::optional<std::int64_t> left();
    std::string raise(ReplicaTypeState& state, std::int32_t id, std::int64_t had);

    const JobRecord& job_;
    std::span<const ReplicaTypeState> states_;
    const Dependents& dependents_;
    bool summed_up_ = false;
    std::optional<std::int64_t> left_;  ///< unset: as much as they like
};

}  // namespace muster::operators
