#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/image/pieces.h"

namespace muster::checkpoint {

/// The CRC-32 of each piece, as zip archives have it. With so many threads, the caller's among them: one makes
/// some 4 GB/s.
std::vector<std::uint32_t> crc32_of(const Pieces& pieces, int threads);

}  // namespace muster::checkpoint
