#pragma once

#include <sys/types.h>

#include "workers/shim/order.h"

namespace muster::workers {

struct WorkerStarted {
    pid_t pid = -1;
    ShimStage stage = ShimStage::kOrder;  ///< what failed, with the errno
    int error = 0;
    int memory_error = 0;  ///< the policy for its memory was refused; it runs nevertheless
};

/// Starts the worker in a session and a process group of its own, with nothing but its three
/// streams, and returns when it has become its program or could not. It ends with its shim.
/// `group` is the descriptor of its cgroup, or -1.
WorkerStarted start_worker(const ShimOrder& order, int out, int error, int group);

}  // namespace muster::workers
