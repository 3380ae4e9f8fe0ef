#pragma once

#include <cstddef>

#include "base/time/clock.h"

namespace muster::apiserver {

struct WatchOptions {
    /// How many changes of all resources are kept for watches that resume; an older revision is
    /// answered with 410.
    std::size_t history = 10'000;
    /// A watcher that is this far behind is ended with 410 instead of being buffered without limit.
    std::size_t watcher_buffer = 20'000;
    Duration bookmark_interval = std::chrono::minutes(1);
};

}  // namespace muster::apiserver
