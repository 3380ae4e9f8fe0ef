#pragma once

#include <optional>
#include <span>
#include <vector>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/planning/job_outcome.h"

namespace muster::operators {

// Pods beside a job (jobs::ReplicaType::beside): they serve its pods, and are no part of it.

/// Those types whose replicas are part of the job. All states are in the order of the kind.
std::span<const ReplicaTypeState> of_the_job(const jobs::JobKind& kind,
                                             std::span<const ReplicaTypeState> states);

/// What runs beside a job that has ended, and has nothing left to serve.
struct IdleBeside {
    std::vector<PodPtr> pods;
    std::optional<WallTime> look_at;  ///< then there may be some
};

/// None while a pod of the job runs, and for a while after the last one: what ends by itself has the
/// time for it, and is there for who looks how it ended. Pure.
IdleBeside idle_beside(const JobRecord& job, const jobs::JobStatus& status,
                       const Dependents& dependents, WallTime now);

}  // namespace muster::operators
