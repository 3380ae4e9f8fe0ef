#include "operator/internal/reconcile/pending_status_writes.h"

#include <algorithm>

namespace muster::operators {

bool PendingStatusWrite::covers(std::string_view shown) const {
    return std::ranges::find(below, shown) != below.end();
}

void PendingStatusWrites::add(const std::string& key, std::string seen, std::string base,
                              std::string version, PackedStatus status, std::string_view shown) {
    PendingStatusWrite next{
        .below = {std::move(seen)}, .version = std::move(version), .status = std::move(status)};
    if (auto it = written_.find(key); it != written_.end() && it->second.version == base)
        next.below = std::move(it->second.below);
    if (!next.covers(base)) next.below.push_back(std::move(base));
    if (next.covers(shown))
        written_[key] = std::move(next);
    else
        written_.erase(key);
}

void PendingStatusWrites::shown(const std::string& key, std::string_view revision) {
    if (auto it = written_.find(key); it != written_.end() && !it->second.covers(revision))
        written_.erase(it);
}

const PendingStatusWrite* PendingStatusWrites::find(const std::string& key) const {
    const auto it = written_.find(key);
    return it == written_.end() ? nullptr : &it->second;
}

}  // namespace muster::operators
