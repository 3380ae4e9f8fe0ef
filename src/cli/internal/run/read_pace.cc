#include "cli/internal/run/read_pace.h"

namespace muster::cli {

Instant ReadPace::next_read(Instant now) {
    const std::int64_t slot = now.time_since_epoch() / kSlot;
    if (slot != slot_) {
        crowded_ = slot == slot_ + 1 && reads_ > kReads;
        slot_ = slot;
        reads_ = 0;
    }
    ++reads_;
    if (!crowded_ && reads_ <= kReads) return now;
    return Instant((slot + 1) * kSlot);
}

}  // namespace muster::cli
