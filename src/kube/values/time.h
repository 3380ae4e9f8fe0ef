#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace muster::kube {

/// "2026-01-02T03:04:05Z": whole seconds, as metav1.Time is written.
std::string format_time(WallTime time);
/// With microseconds, as metav1.MicroTime is written.
std::string format_micro_time(WallTime time);
/// With nanoseconds, as log lines are stamped.
std::string format_nano_time(WallTime time);
/// Any RFC 3339 offset and fraction, with 'T' and 'Z' in upper case as Go reads it (digits beyond
/// nanoseconds are cut off); nullopt for anything else, and for times that WallTime can't hold
/// (years before 1678 and after 2261, such as Go's zero time of the year 1).
std::optional<WallTime> parse_time(std::string_view text);

}  // namespace muster::kube
