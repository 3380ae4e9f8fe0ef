#pragma once

#include <map>
#include <string>

#include "kube/objects/pod.h"
#include "kube/values/quantity.h"

namespace muster::runtime {

/// A pod's requests as the scheduler adds them up: all containers and sidecars together, or the
/// largest init container with the sidecars before it if that is more; a missing request is the
/// limit. Values that are not quantities count as zero.
std::map<std::string, kube::Quantity> requests_of(const kube::PodSpec& spec);

}  // namespace muster::runtime
