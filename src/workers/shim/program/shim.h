#pragma once

namespace muster::workers {

/// Owns one worker: its pipes, its exit status and all processes that it starts, with an agent and,
/// for a limited time, without one.
///
///     read the order from kShimOrderFd -> run the worker -> the worker ends -> an agent asks for the
///     end, or none connects within the grace -> kill and reap the tree, remove files -> exit
///
/// The exit code is 0, even if the worker could not be started.
int run_shim();

}  // namespace muster::workers
