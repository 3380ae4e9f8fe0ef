#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster::checkpoint {

/// XXH3 with 64 bits, seed 0: what tells that bytes have changed by accident, not by intent.
std::uint64_t digest_of(std::span<const std::byte> bytes);

}  // namespace muster::checkpoint
