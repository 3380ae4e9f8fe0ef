#pragma once

#include <cstdint>

#include "base/result.h"
#include "runtime/internal/network/network_namespace.h"

namespace muster::runtime {

/// Packets that leave the namespace by the link `out` get the address of that link; connections
/// between the pods' addresses (`range`/16, host byte order) are not tracked, so their packets pass
/// as before. Talks to nf_tables directly.
Result<void> masquerade(const NetworkNamespace& network, std::uint32_t out, std::uint32_t range);

}  // namespace muster::runtime
