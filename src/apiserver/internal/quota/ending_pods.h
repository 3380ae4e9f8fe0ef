#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/time/clock.h"
#include "store/store.h"

namespace muster::apiserver {

/// Pods whose deletion may hang, and how long each counts in quotas if nothing else happens to it.
/// Has no clock of its own.
class EndingPods {
  public:
    /// The pod's state as it is now; nullopt: it is gone, is not being deleted, or takes less already.
    void follow(const store::StoreKey& key, std::optional<WallTime> until);
    /// Until when the first of them counts; nullopt: there is no such pod.
    std::optional<WallTime> first() const;
    /// A pod that no longer counts, which is forgotten.
    std::optional<store::StoreKey> take(WallTime now);

  private:
    std::map<store::StoreKey, WallTime> until_;
    std::set<std::pair<WallTime, store::StoreKey>> by_time_;
};

}  // namespace muster::apiserver
