#pragma once

#include <cstdint>
#include <optional>

namespace muster::operators {

/// A replica that ran out of memory; in bytes.
struct MemoryLack {
    std::int64_t had = 0;  ///< the limit of the pod that failed; 0: it had none
    std::int64_t would_be =
        0;  ///< what the next pod would have if this had not happened; 0: no limit
    /// How much more all pods of the job may request together; unset: as much as they like.
    std::optional<std::int64_t> left = std::nullopt;
};

/// What the next pod has.
struct MemoryGrowth {
    enum class Outcome : std::uint8_t {
        kMore,         ///< `bytes`
        kEnough,       ///< it would have more in any case
        kUnlimited,    ///< nothing limits it, so that there is nothing to raise
        kMost,         ///< it had as much as any replica gets
        kNothingLeft,  ///< the job may not request more
    };
    Outcome outcome = Outcome::kUnlimited;
    std::int64_t bytes = 0;

    friend bool operator==(const MemoryGrowth&, const MemoryGrowth&) = default;
};

/// The most that a replica is given for want of memory.
inline constexpr std::int64_t kMostMemory = std::int64_t{64} << 30;

/// Twice as much as the pod had, at most 8 GiB more, not beyond 64 GiB and not beyond what the job may
/// request: in whole MiB from the first one on. (DLRover's growth, dlrover/python/master/resource/job.py;
/// there a replica that has 64 GiB is given up, and `resourceLimits` bind nothing.) Pure.
MemoryGrowth memory_after(const MemoryLack& lack);

}  // namespace muster::operators
