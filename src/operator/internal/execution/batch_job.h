#pragma once

#include <cstdint>
#include <string>

#include "base/async/async.h"
#include "base/result.h"
#include "kube/client/client.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// What stands in the way of a replica of ReplicaType::had_batch_job.
enum class BatchJob : std::uint8_t {
    kNone,
    kForeign,  ///< it is not of this job
    kEnds,     ///< it was told to go, or goes
};

/// Has a batch Job go that an operator before this one made for `job`
/// (mpi-operator v0.8, pkg/controller/mpi_job_controller.go, newLauncherJob). With
/// Propagation::kOrphan its pods stay and are nobody's; with kForeground they go first. Kubernetes
/// takes a moment for either, so it may be asked again.
Task<Result<BatchJob>> end_batch_job(kube::Client& client, const JobRecord& job, std::string name,
                                     kube::Propagation propagation);

}  // namespace muster::operators
