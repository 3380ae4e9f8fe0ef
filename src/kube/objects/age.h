#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace muster::kube {

// How long ago things happened, as clients show it.

/// A time span in one or two units, coarser the longer it is: 47s, 5m30s, 3h, 4d2h, 2y31d.
/// <invalid> if it is more than a second in the future.
std::string duration_text(std::chrono::seconds span);
/// From one time to the other; both ends may be anywhere in WallTime's range.
std::chrono::seconds span_between(WallTime from, WallTime to);
/// The time since a timestamp of the API: <unknown> if it is empty, <invalid> if it is not a time.
std::string age_text(std::string_view timestamp, WallTime now);

}  // namespace muster::kube
