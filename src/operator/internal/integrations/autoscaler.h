#pragma once

#include "jobs/kind.h"

// Kubernetes' HorizontalPodAutoscaler (autoscaling/v2), which acts on the job's scale subresource.

namespace muster::operators::autoscaler {

extern const kube::ResourceType kType;

/// For a job whose elasticity has metrics.
jobs::OwnedObject autoscaler(const jobs::Job& job, const jobs::Elasticity& elasticity);

}  // namespace muster::operators::autoscaler
