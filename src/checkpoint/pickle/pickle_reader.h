#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "checkpoint/pickle/pickle_tree.h"

namespace muster::checkpoint {

struct PickleLimits {
    std::uint64_t bytes = std::uint64_t{1} << 30;
    std::uint32_t nodes = 8'000'000;  ///< of 136 bytes each
};

/// Reads the pickle at the begin of `bytes`, of protocol 2 to 5, without executing anything: calls are kept as
/// what they are, but for those that make dicts, sets and bytes. Memory and time grow with the bytes alone. kInvalid, with the place: it is damaged; kUnsupported:
/// it has an opcode that torch does not write; kTooLarge: the limits.
Result<PickleTree> read_pickle(std::string_view bytes, const PickleLimits& limits = {});

}  // namespace muster::checkpoint
