#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operator/internal/cache/packed_status.h"

namespace muster::operators {

/// A status that we wrote and the watch has not shown yet.
struct PendingStatusWrite {
    std::vector<std::string> below;  ///< the revisions of the job that it replaced
    std::string version;             ///< the revision that it became
    PackedStatus status;

    bool covers(std::string_view shown) const;
};

/// A status that we wrote counts from the server's answer on, and not only when the watch brings
/// it: there can't be other revisions in between, since each write replaced the one before. Keys
/// are those of the queue. Pure.
class PendingStatusWrites {
  public:
    /// A status was written over `base`; the caches showed `seen` when we began and show `shown`
    /// now (empty: another job, or none). A revision that they show now and that none of our writes
    /// replaced is newer.
    void add(const std::string& key, std::string seen, std::string base, std::string version,
             PackedStatus status, std::string_view shown);
    /// The caches show this revision: either it is what we wrote, or the API has moved on.
    void shown(const std::string& key, std::string_view revision);
    void forget(const std::string& key) { written_.erase(key); }

    /// Null if the caches show everything that was written.
    const PendingStatusWrite* find(const std::string& key) const;

  private:
    std::unordered_map<std::string, PendingStatusWrite> written_;
};

}  // namespace muster::operators
