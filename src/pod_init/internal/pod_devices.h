#pragma once

#include <string_view>

#include "base/result.h"

namespace muster::pod_init {

/// Whether a pod sees this entry of the machine's /dev: all except disks (`is_block`), the
/// machine's terminals, and devices for administration only.
bool pod_sees_device(std::string_view name, bool is_block);

/// Mounts the pod's own /dev over the machine's: with the machine's devices bound into it, its own
/// terminals and message queues, and a place for /dev/termination-log, so that nothing is ever
/// written to the machine's. Called in the pod's mount namespace, after its /proc. Plain system
/// calls.
Result<void> set_up_pod_devices();

}  // namespace muster::pod_init
