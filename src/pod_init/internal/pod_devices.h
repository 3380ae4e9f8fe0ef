#pragma once

#include <string_view>

#include "base/result.h"

namespace muster::pod_init {

/// Whether a pod sees this entry of the machine's /dev: all but disks, which `is_block` tells, the
/// machine's terminals, and what only administrates it.
bool pod_sees_device(std::string_view name, bool is_block);

/// Puts a /dev of the pod's own over the machine's: its devices bound back, terminals and message
/// queues of its own, and a place for /dev/termination-log, so that nothing is ever written to the
/// machine's. Called in the pod's mount namespace, after its /proc. Plain system calls.
Result<void> set_up_pod_devices();

}  // namespace muster::pod_init
