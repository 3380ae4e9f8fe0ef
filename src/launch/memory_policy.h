#pragma once

#include <cstdint>

// Also included by the shim, which links no library: nothing of base/ here.

namespace muster::launch {

/// The memory policy of a worker (--membind-policy).
enum class MemoryPolicy : std::uint8_t { kNone, kPreferred, kBind };

}  // namespace muster::launch
