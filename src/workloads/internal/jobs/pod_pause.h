#pragma once

#include <cstdint>
#include <vector>

#include "base/time/clock.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// 10 s after one failure, twice as long after each further one, 10 minutes at most.
Duration pause_after(std::int64_t failures);

/// When the next pod of a Job may be made: pause_after() the failures since the last success. Without
/// failures: now.
WallTime next_pod_allowed(const std::vector<PodPtr>& pods, WallTime now);

}  // namespace muster::workloads
