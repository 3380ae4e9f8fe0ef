#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/format/distributed_checkpoint.h"

namespace muster::checkpoint {

inline constexpr std::string_view kDistributedMetadata = ".metadata";

/// What a rank's file has.
struct RankEntries {
    std::uint32_t rank = 0;
    std::vector<DistributedEntry> entries;
};
/// Composes `.metadata`. Of a value that several ranks have, the first of them counts. kInvalid, with the value: ranks
/// that disagree about it, a part of a tensor that no rank has.
Result<std::string> compose_metadata(std::span<const RankEntries> ranks);

}  // namespace muster::checkpoint
