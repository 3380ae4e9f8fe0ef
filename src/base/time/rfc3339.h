#pragma once

#include <string>

#include "base/time/clock.h"

namespace muster {

/// "2026-01-02T03:04:05Z", with `fraction_digits` (0, 6 or 9) digits after the seconds.
std::string format_rfc3339(WallTime time, int fraction_digits = 0);

}  // namespace muster
