#include "workloads/internal/jobs/index_failures.h"

#include <algorithm>
#include <set>
#include <utility>

#include "workloads/internal/jobs/pod_pause.h"

namespace muster::workloads {

namespace {

std::int64_t all_failures(const PodFacts& pod) {
    return pod.index_failures + pod.ignored_index_failures;
}

}  // namespace

FailuresByIndex::FailuresByIndex(const JobSpec& spec, const std::vector<PodPtr>& pods,
                                 IndexIntervals failed, const IndexIntervals& completed)
    : failed_(std::move(failed)) {
    std::set<std::int64_t> active;
    for (const PodPtr& pod : pods)
        if (pod->active() && pod->index) active.insert(*pod->index);
    for (const PodPtr& pod : pods) {
        const bool counts = pod->tracked && has_valid_index(spec, *pod) && has_failed(spec, *pod);
        if (!counts || completed.contains(*pod->index)) continue;
        const FailureVerdict verdict = judge_failure(spec, *pod);
        if (verdict.fails_index ||
            (verdict.counts && pod->index_failures >= *spec.backoff_limit_per_index)) {
            failed_.add(*pod->index);
            continue;
        }
        if (active.contains(*pod->index)) continue;
        Carrier& carrier = carriers_[*pod->index];
        if (carrier.pod && all_failures(*carrier.pod) >= all_failures(*pod)) continue;
        carrier = {.pod = pod,
                   .next = {.counted = pod->index_failures + (verdict.counts ? 1 : 0),
                            .ignored = pod->ignored_index_failures + (verdict.counts ? 0 : 1)}};
    }
    std::erase_if(carriers_, [this](const auto& each) { return failed_.contains(each.first); });
}

bool FailuresByIndex::is_carrier(const PodFacts& pod) const {
    if (!pod.index) return false;
    const auto found = carriers_.find(*pod.index);
    return found != carriers_.end() && found->second.pod->uid == pod.uid;
}

IndexFailures FailuresByIndex::next_of(std::int64_t index) const {
    const auto found = carriers_.find(index);
    return found == carriers_.end() ? IndexFailures() : found->second.next;
}

WallTime FailuresByIndex::allowed(std::int64_t index, WallTime now) const {
    const auto found = carriers_.find(index);
    if (found == carriers_.end()) return now;
    const PodFacts& pod = *found->second.pod;
    const WallTime at = pod.finished.value_or(pod.created.value_or(now));
    return std::min(at, now) + pause_after(all_failures(pod) + 1);
}

}  // namespace muster::workloads
