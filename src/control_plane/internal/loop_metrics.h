#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "base/time/loop_watch.h"
#include "base/time/side_watch.h"

namespace muster::control_plane {

/// How long handlers held the loop, during which no client is answered.
std::vector<prometheus::MetricFamily> loop_metrics(const LoopWatch& loop);

/// How long computations beside the loop took, and waited for each other.
std::vector<prometheus::MetricFamily> side_metrics(const SideWatch& side);

}  // namespace muster::control_plane
