#include "apiserver/internal/quota/ending_pods.h"

namespace muster::apiserver {

void EndingPods::follow(const store::StoreKey& key, std::optional<WallTime> until) {
    const auto known = until_.find(key);
    if (known != until_.end()) {
        if (until == known->second) return;
        by_time_.erase({known->second, key});
        until_.erase(known);
    }
    if (!until) return;
    until_.emplace(key, *until);
    by_time_.emplace(*until, key);
}

std::optional<WallTime> EndingPods::first() const {
    if (by_time_.empty()) return std::nullopt;
    return by_time_.begin()->first;
}

std::optional<store::StoreKey> EndingPods::take(WallTime now) {
    if (by_time_.empty() || by_time_.begin()->first >= now) return std::nullopt;
    store::StoreKey key = by_time_.begin()->second;
    follow(key, std::nullopt);
    return key;
}

}  // namespace muster::apiserver
