#pragma once

#include <cstddef>

#include "base/async/async.h"

namespace muster {

/// Runs both tasks until one of them ends, by returning or by throwing; cancels the other, and
/// returns when both have ended. Returns which one ended first (0 or 1), or throws what that one
/// threw. A cancellation of the caller reaches both and is thrown as usual.
///
/// Compiled once: Asio's `||` costs each file that uses it a third of a second, waits for the other
/// task when one throws, and ends a cancelled caller with multiple_exceptions, which no TaskGroup
/// takes for the end of a task.
Task<std::size_t> first_of(Task<void> one, Task<void> other);

}  // namespace muster
