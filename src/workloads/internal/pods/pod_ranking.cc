#include "workloads/internal/pods/pod_ranking.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

namespace muster::workloads {

namespace {

/// The later, the earlier it is removed. What has no time has not come so far.
std::int64_t youth(const std::optional<WallTime>& since) {
    return since ? -since->time_since_epoch().count() : std::numeric_limits<std::int64_t>::min();
}

auto rank(const PodFacts& pod) {
    return std::make_tuple(pod.scheduled, pod.phase != PodPhase::kPending, pod.ready,
                           youth(pod.ready_since), -pod.restarts, youth(pod.created),
                           std::string_view(pod.name.name));
}

}  // namespace

void rank_for_removal(std::vector<PodPtr>& pods) {
    std::ranges::sort(pods, [](const PodPtr& a, const PodPtr& b) { return rank(*a) < rank(*b); });
}

}  // namespace muster::workloads
