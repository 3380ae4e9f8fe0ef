#pragma once

#include <cstddef>

#include "base/async/async.h"

namespace muster {

/// Runs both tasks until one of them ends, by returning or by throwing; cancels the other, and
/// returns when both have ended. Throws what the one that ended first threw. A cancellation of the
/// caller reaches both and is thrown as any other.
///
/// Compiled once: Asio's `||` costs each file that uses it a third of a second, waits for the other
/// task when one throws, and ends a cancelled caller with multiple_exceptions, which no TaskGroup
/// takes for the end of a task.
Task<void> first_of(Task<void> one, Task<void> other);
/// The same; returns which of the two ended first: 0 or 1.
Task<std::size_t> index_of_first(Task<void> one, Task<void> other);

}  // namespace muster
