#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "jobs/kind.h"

namespace muster::jobs {

/// What is wrong with a pod template, found before any pod is made from it: what the API server
/// would refuse in the pods, and what the kind requires. `path` is the replica's
/// ("spec.pytorchReplicaSpecs.Worker").
std::vector<Cause> check_template(const JobKind& kind, const ReplicaType& type,
                                  const kube::PodTemplateSpec& pod_template,
                                  const std::string& path);

}  // namespace muster::jobs
