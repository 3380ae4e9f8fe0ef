#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// A job's status while a plan is made, and the events that explain it. Reasons begin with the
/// kind, as upstream's do, or with what the kind says.
struct Draft {
    const JobRecord& job;
    jobs::JobStatus status;
    std::vector<JobEvent> events;
    WallTime now;

    const std::string& kind() const { return job.kind->resource.kind; }
    std::string reason(std::string_view suffix) const;
    /// True if the status changed.
    bool set(std::string_view condition, bool value, std::string_view suffix, std::string message);
    void tell(kube::EventType type, std::string_view suffix, std::string message);
};

}  // namespace muster::operators
