#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "workloads/internal/jobs/index_failures.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

struct JobEvent {
    bool warning = false;
    std::string reason;
    std::string message;
};

/// What is to be done about one Job now, in the order of the fields.
struct JobPlan {
    /// Pods to be deleted.
    std::vector<PodPtr> remove;
    /// They are too many, and no failures: their finalizer is taken off first, so that they are not
    /// counted.
    bool uncounted_removal = false;
    /// How many pods to make; of an Indexed Job those with these indexes.
    std::int64_t make = 0;
    std::vector<std::int64_t> indexes;
    /// Of each index, if it has a limit of its own: what its pod is told.
    std::vector<IndexFailures> failures;
    /// The status, in which `active` does not have the pods yet that are to be made.
    json::object status;
    std::int64_t active = 0;
    std::vector<JobEvent> events;  ///< once the status is written
    /// Their ends are in the status: their finalizer can go.
    std::vector<PodPtr> untrack;
    bool delete_job = false;        ///< its time after the end is over
    std::optional<WallTime> again;  ///< when it is to be looked at even if nothing changes
};

/// The decision about a Job: `pods` are those that it controls. Pure.
///
/// A pod that ended is counted in two steps, so that no crash loses or doubles it: first its uid is
/// written into the status, then its finalizer is taken off; a uid whose pod has no finalizer any
/// more becomes a number. A Job is finished when all of its pods are counted and gone or ended.
JobPlan plan_job(const json::object& job, const std::vector<PodPtr>& pods, WallTime now);

}  // namespace muster::workloads
