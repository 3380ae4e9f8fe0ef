#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operator/internal/cache/packed_status.h"

namespace muster::operators {

/// A status of ours that the watch has not shown yet.
struct PendingStatusWrite {
    std::vector<std::string> below;  ///< the revisions of the job that it was written over
    std::string version;             ///< the revision that it became
    PackedStatus status;

    bool covers(std::string_view shown) const;
};

/// Our own status of a job counts from its answer on, and not only when the watch brings it:
/// nothing can lie between the revisions, since each was written over the one before. Keys are
/// those of the queue. Pure.
class PendingStatusWrites {
  public:
    /// Written over `base`, while the caches showed `seen` when we began and show `shown` now
    /// (empty: another job, or none). What they show now and none of ours lies below is newer.
    void add(const std::string& key, std::string seen, std::string base, std::string version,
             PackedStatus status, std::string_view shown);
    /// The caches show this revision: what was written is that one, or the API has moved on.
    void shown(const std::string& key, std::string_view revision);
    void forget(const std::string& key) { written_.erase(key); }

    /// Null: the caches show all that was written.
    const PendingStatusWrite* find(const std::string& key) const;

  private:
    std::unordered_map<std::string, PendingStatusWrite> written_;
};

}  // namespace muster::operators
