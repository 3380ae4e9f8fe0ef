#include "muster_run/hosting/takeover_turn.h"

#include <cstdint>

namespace muster::run {

std::optional<std::size_t> TakeoverTurn::no_master_answers(Instant now) {
    if (candidates_.empty()) return std::nullopt;
    if (!silent_since_) silent_since_ = now;
    const auto before = static_cast<std::int64_t>(candidates_.front());
    if (now - *silent_since_ < before * each_) return std::nullopt;
    return candidates_.front();
}

}  // namespace muster::run
