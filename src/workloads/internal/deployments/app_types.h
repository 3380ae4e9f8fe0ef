#pragma once

#include "kube/objects/resource_type.h"

namespace muster::workloads {

inline const kube::ResourceType kDeployments{"apps", "v1", "deployments", "Deployment"};
inline const kube::ResourceType kReplicaSets{"apps", "v1", "replicasets", "ReplicaSet"};

}  // namespace muster::workloads
