#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time/clock.h"
#include "workloads/internal/jobs/index_intervals.h"
#include "workloads/internal/jobs/job_spec.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// How often the pods of an index have failed; the annotations of its next pod say it.
struct IndexFailures {
    std::int64_t counted = 0;
    std::int64_t ignored = 0;  ///< by a podFailurePolicy

    friend bool operator==(const IndexFailures&, const IndexFailures&) = default;
};

/// The failures of an Indexed Job with a backoffLimitPerIndex. A failed pod carries the count of its
/// index: it keeps its finalizer until its successor is there (kube-controller-manager's
/// pkg/controller/job/backoff_utils.go and indexed_job_utils.go). Pure.
class FailuresByIndex {
  public:
    FailuresByIndex() = default;
    /// `failed`: indexes that the status says have failed; `completed`: with pods that ended since.
    FailuresByIndex(const JobSpec& spec, const std::vector<PodPtr>& pods, IndexIntervals failed,
                    const IndexIntervals& completed);

    /// The indexes that failed for good.
    const IndexIntervals& failed() const { return failed_; }
    /// Whether the pod carries the count of an index that is to be tried again.
    bool is_carrier(const PodFacts& pod) const;
    /// What the next pod of the index is told.
    IndexFailures next_of(std::int64_t index) const;
    /// When it may be made: 10 s after the first failure, twice as long after each further one.
    WallTime allowed(std::int64_t index, WallTime now) const;

  private:
    struct Carrier {
        PodPtr pod;
        IndexFailures next;
    };
    std::map<std::int64_t, Carrier> carriers_;
    IndexIntervals failed_;
};

}  // namespace muster::workloads
