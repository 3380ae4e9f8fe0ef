#pragma once

#include <vector>

#include "base/time/clock.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// When the next pod of a Job may be made: 10 s after the first failure since the last success,
/// twice as long after each further one, 10 minutes at most. Without failures: now.
WallTime next_pod_allowed(const std::vector<PodPtr>& pods, WallTime now);

}  // namespace muster::workloads
