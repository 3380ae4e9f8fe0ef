#pragma once

#include <cstdint>

// The shim, which links no library, includes this too: nothing of base/ here.

namespace muster::launch {

/// Where a worker's memory comes from (--membind-policy).
enum class MemoryPolicy : std::uint8_t { kNone, kPreferred, kBind };

}  // namespace muster::launch
