#pragma once

#include "base/result.h"
#include "pod_init/init_protocol.h"

namespace muster::pod_init {

/// Sets up the pod's side, called inside the pod's network namespace: lo, eth0, routes.
Result<void> configure_pod_link(const PodLink& link);

}  // namespace muster::pod_init
