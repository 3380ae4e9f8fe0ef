#pragma once

#include <vector>

#include "jobs/job.h"
#include "operator/observer/observer.h"

namespace muster::operators {

struct Reached {
    Milestone milestone;
    std::int32_t times = 1;
    RestartCause cause = RestartCause::kReplica;

    friend bool operator==(const Reached&, const Reached&) = default;
};

/// The milestones that a job reached between two statuses, in order.
std::vector<Reached> milestones(const jobs::JobStatus& before, const jobs::JobStatus& after);

}  // namespace muster::operators
