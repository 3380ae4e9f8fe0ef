#include "workloads/internal/jobs/pod_pause.h"

#include <algorithm>

namespace muster::workloads {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 10s;
constexpr Duration kLongestPause = 10min;

bool has_failed(const PodFacts& pod) {
    return pod.phase == PodPhase::kFailed || (pod.deleting && pod.phase != PodPhase::kSucceeded);
}

}  // namespace

Duration pause_after(std::int64_t failures) {
    Duration pause = kFirstPause;
    for (std::int64_t i = 1; i < failures && pause < kLongestPause; ++i) pause *= 2;
    return std::min(pause, kLongestPause);
}

WallTime next_pod_allowed(const std::vector<PodPtr>& pods, WallTime now) {
    WallTime last_success = WallTime::min();
    for (const PodPtr& pod : pods)
        if (pod->phase == PodPhase::kSucceeded && pod->finished)
            last_success = std::max(last_success, *pod->finished);
    std::int64_t failures = 0;
    WallTime last_failure = WallTime::min();
    for (const PodPtr& pod : pods) {
        if (!has_failed(*pod)) continue;
        const WallTime at = pod->finished.value_or(pod->created.value_or(now));
        // Times are whole seconds: of the same one, the failure counts as the later.
        if (at < last_success) continue;
        ++failures;
        last_failure = std::max(last_failure, std::min(at, now));
    }
    return failures == 0 ? now : last_failure + pause_after(failures);
}

}  // namespace muster::workloads
