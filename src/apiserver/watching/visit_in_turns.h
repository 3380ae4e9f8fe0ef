#pragma once

#include <functional>
#include <string>

#include "apiserver/watching/watch_cache.h"
#include "base/async/async.h"

namespace muster::apiserver {

/// Calls `look` for each object of a namespace (empty: of all) until it returns false. Others have their turn of the
/// loop whenever this one is long, so that it does not matter how many there are. What comes or goes
/// meanwhile may be missed; what stays is seen once. `cache` outlives the call.
Task<void> visit_in_turns(const WatchCache& cache, std::string resource, std::string namespace_,
                          std::function<bool(const NamespacedName&, const CachedObject&)> look);

}  // namespace muster::apiserver
