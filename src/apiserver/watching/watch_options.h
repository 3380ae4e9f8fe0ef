#pragma once

#include <cstddef>

#include "base/time/clock.h"
#include "store/store.h"

namespace muster::apiserver {

struct WatchOptions {
    /// The changes that are kept for watches that resume; an older revision is answered with 410.
    store::HistoryLimit history = {};
    /// A watcher that is this far behind is ended with 410 instead of being buffered without limit.
    std::size_t watcher_buffer = 20'000;
    Duration bookmark_interval = std::chrono::minutes(1);
};

}  // namespace muster::apiserver
