#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/commit/catalog.h"

namespace muster::checkpoint {

/// Which checkpoints stay: those that any of these names. Without all of them each stays.
struct Retention {
    std::optional<std::uint64_t> last = {};         ///< so many of the newest
    std::optional<std::uint64_t> every_steps = {};  ///< those of steps that are multiples of it
    std::optional<std::chrono::seconds> younger_than = {};
};

/// The directories that are to be removed, the oldest first, from what is found in the root: so nothing is left behind when
/// a process ends and the next one knows nothing of it. The newest checkpoint always stays, those `in_use` do, and what can't be
/// loaded, which tells what went wrong. Pure.
std::vector<std::string> expired(const Catalog& catalog, const Retention& rule,
                                 std::int64_t now_unix_ms, const std::set<std::string>& in_use);

}  // namespace muster::checkpoint
