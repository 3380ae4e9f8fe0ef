#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "jobs/kind.h"

namespace muster::operators {

/// The milestones of a job that metrics count. Each is reported once, when it is recorded in the
/// API, by the operator that recorded it: one that another operator reported is not reported again.
enum class Milestone : std::uint8_t { kCreated, kRunning, kRestarted, kSucceeded, kFailed };

/// Why pods of a job were made again.
enum class RestartCause : std::uint8_t {
    kReplica,  ///< one replica ended and was replaced, or its containers started again
    kGroup,    ///< all pods of the job were restarted together
};

struct JobNews {
    const jobs::JobKind& kind;
    const std::string& namespace_;
    const std::string& name;
    Milestone milestone;
    std::int32_t times = 1;                             ///< of kRestarted
    RestartCause cause = RestartCause::kReplica;        ///< of kRestarted
    std::optional<Duration> since_seen = std::nullopt;  ///< of kRunning, if the job was seen new
};

/// Called as the operator works, on its loop; must not block.
class OperatorObserver {
  public:
    virtual ~OperatorObserver() = default;
    virtual void on_job(const JobNews& news) = 0;
    /// One of our jobs was deleted at the end of its TTL.
    virtual void on_job_removed(const jobs::JobKind& kind, const std::string& namespace_) = 0;
    /// One reconciliation of a job. `complete`: nothing failed.
    virtual void on_reconcile(const jobs::JobKind& kind, Duration took, bool complete) = 0;
};

}  // namespace muster::operators
