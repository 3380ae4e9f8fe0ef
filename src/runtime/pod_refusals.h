#pragma once

#include <string>
#include <vector>

#include "kube/objects/pod.h"

namespace muster::runtime {

/// A field with which the node never starts a pod on this machine, for this user.
struct PodRefusal {
    std::string field;  ///< below the pod's spec: "containers[0].securityContext"
    std::string why;
};

/// What the node of this process would refuse in a pod that the API has accepted. It tries again
/// without end, as a kubelet does; who starts a job with it can say so at once.
std::vector<PodRefusal> refusals_of(const kube::Pod& pod);

}  // namespace muster::runtime
