#pragma once

namespace muster::workers {

/// Owns one worker: its pipes, its exit status and all that it starts, with an agent and, for a
/// grace, without one.
///
///     the order, at kShimOrderFd -> the worker runs -> it ends -> somebody asks for the end, or
///     nobody is there for longer than the grace -> the tree is killed and reaped, files are
///     removed -> exit
///
/// The exit code is 0, also for a worker that could not be started.
int run_shim();

}  // namespace muster::workers
