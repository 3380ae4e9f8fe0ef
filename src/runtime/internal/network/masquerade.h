#pragma once

#include <cstdint>

#include "base/result.h"
#include "runtime/internal/network/network_namespace.h"

namespace muster::runtime {

/// What leaves the namespace by the link `out` leaves with the address of that link; connections
/// between the pods' addresses (`range`/16, host byte order) are not tracked, so their packets pass
/// as before. By nf_tables, spoken directly.
Result<void> masquerade(const NetworkNamespace& network, std::uint32_t out, std::uint32_t range);

}  // namespace muster::runtime
