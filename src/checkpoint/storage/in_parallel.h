#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace muster::checkpoint {

/// What one thread does with a part, by the part's number.
using PartWork = std::function<Result<void>(std::uint64_t part)>;

/// Gives each of `parts` to one of up to `threads` threads, the caller's among them; the first parts first. Returns when all
/// have ended: the first error, after which no part is begun. `make_work` is called once for each thread, on the caller's, so
/// that a thread can have memory of its own. Where the system has no more threads, fewer do it.
Result<void> in_parallel(int threads, std::uint64_t parts,
                         const std::function<PartWork()>& make_work);

}  // namespace muster::checkpoint
