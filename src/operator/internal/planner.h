#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "jobs/job.h"
#include "jobs/kind.h"
#include "operator/internal/records.h"
#include "operator/internal/table.h"

namespace muster::operators {

/// One object that has to go, and exactly that one: a successor of the same name has another uid.
struct Deletion {
    std::string name;
    std::string uid;

    friend auto operator<=>(const Deletion&, const Deletion&) = default;
};

/// What one pass over a job does. The executor writes creations and the status at once, and
/// deletions only after the status, so that what a deleted pod has shown is never lost.
struct Plan {
    std::vector<jobs::ReplicaId> create_pods = {};
    std::vector<jobs::ReplicaId> create_services = {};
    std::vector<Deletion> delete_pods = {};
    std::vector<Deletion> delete_services = {};
    std::optional<jobs::JobStatus> status = std::nullopt;  ///< unset: as it is
    std::vector<JobEvent> events = {};                     ///< told once the status is written

    bool empty() const {
        return create_pods.empty() && create_services.empty() && delete_pods.empty() &&
               delete_services.empty() && !status && events.empty();
    }
};

/// Exit codes that a restart may cure: 128 and above, that is, death by a signal. A pod that ended
/// without its container's status (evicted, node lost) counts as one of these
/// (training-operator pkg/util/train, IsRetryableExitCode; pod.go's 0xbeef).
bool is_retryable(std::optional<std::int32_t> exit_code);

/// What a job needs now. `status` is the newest that is known, which may be newer than the job's
/// own. A pure function; equal arguments give an equal plan.
Plan plan(const jobs::Job& job, const jobs::JobStatus& status, const Dependents& dependents,
          WallTime now);

/// What is told when a job begins: what of its manifest has no effect, is deprecated or doubtful.
/// A template's restartPolicy keeps upstream's reason.
std::vector<JobEvent> warning_events(const std::vector<Cause>& warnings);

/// The same as plan() for a job that can't be run: Failed, with the reason. A job that already
/// started goes on as it is, for an edit must not kill it; the event says that the edit is not in
/// effect.
Plan plan_invalid(const JobRecord& record, const jobs::JobStatus& status, const Error& why,
                  WallTime now);

}  // namespace muster::operators
