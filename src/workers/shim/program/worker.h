#pragma once

#include <sys/types.h>

#include "workers/shim/order.h"

namespace muster::workers {

struct WorkerStarted {
    pid_t pid = -1;
    ShimStage stage = ShimStage::kOrder;  ///< the step that failed, with the errno
    int error = 0;
    int memory_error = 0;  ///< its memory policy was refused; it runs without it
};

/// Starts the worker in its own session and process group, with only its three standard streams; the
/// first is the caller's.
/// Returns when it has executed its program, or failed to. The worker dies with its parent. `group`
/// is the descriptor of its cgroup, or -1.
WorkerStarted start_worker(const ShimOrder& order, int out, int error, int group);

}  // namespace muster::workers
