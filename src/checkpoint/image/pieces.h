#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::checkpoint {

/// What a file is made of, one after the other: of memory that others own, and that must not change while
/// this is used.
using Pieces = std::vector<std::span<const std::byte>>;

inline std::uint64_t bytes_of(const Pieces& pieces) {
    std::uint64_t bytes = 0;
    for (const auto& piece : pieces) bytes += piece.size();
    return bytes;
}

}  // namespace muster::checkpoint
