#pragma once

#include <cstdint>

#include "base/time/clock.h"

namespace muster::cli {

/// When logs that are followed together are read again. Each line of each would wake this process;
/// where many come, all logs that have been read to their end are left until the same moment, a tenth
/// of a second later at most. Few lines are never held up. Pure.
class ReadPace {
  public:
    static constexpr Duration kSlot = std::chrono::milliseconds(100);
    static constexpr int kReads = 10;  ///< of all logs in a slot, without a pause

    /// A log was read at `now`. Returns when its next read is due.
    Instant next_read(Instant now);

  private:
    std::int64_t slot_ = 0;
    int reads_ = 0;         ///< in this slot
    bool crowded_ = false;  ///< the slot before had more than enough
};

}  // namespace muster::cli
