#pragma once

#include <string>
#include <vector>

#include "kube/objects/pod.h"

namespace muster::operators {

/// Keeps a pod from the nodes with these names, besides what its template requires: each of the
/// alternatives that this has gets the condition, by the label kubernetes.io/hostname. An affinity of
/// another form is left to the server, which refuses it. A pure function.
void keep_from_nodes(kube::PodSpec& pod, const std::vector<std::string>& nodes);

}  // namespace muster::operators
