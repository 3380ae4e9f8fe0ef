#pragma once

#include <cstdint>
#include <string>

#include "base/async/async.h"
#include "base/result.h"
#include "kube/client/client.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// What blocks a replica of ReplicaType::had_batch_job.
enum class BatchJob : std::uint8_t {
    kNone,
    kForeign,  ///< it does not belong to this job
    kEnds,     ///< it was told to go, or is being deleted
};

/// Deletes a batch Job that an earlier operator made for `job` (mpi-operator v0.8,
/// pkg/controller/mpi_job_controller.go, newLauncherJob). With Propagation::kOrphan its pods stay
/// and have no owner; with kForeground they are deleted first. Kubernetes takes a moment for
/// either, so this may be called again.
Task<Result<BatchJob>> end_batch_job(kube::Client& client, const JobRecord& job, std::string name,
                                     kube::Propagation propagation);

}  // namespace muster::operators
