#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "jobs/kind.h"

namespace muster::operators {

/// What becomes of a job, as metrics count it. Each is told once, when it is on record in the API,
/// and by the operator that wrote it: what another one told before is not told again.
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
    std::optional<Duration> since_seen = std::nullopt;  ///< of kRunning, where it was seen new
};

/// Hears of the operator's work as it is done. Called on its loop; must not block.
class OperatorObserver {
  public:
    virtual ~OperatorObserver() = default;
    virtual void on_job(const JobNews& news) = 0;
    /// A job of ours is gone at the end of its TTL.
    virtual void on_job_removed(const jobs::JobKind& kind, const std::string& namespace_) = 0;
    /// One reconciliation of a job. `complete`: nothing failed.
    virtual void on_reconcile(const jobs::JobKind& kind, Duration took, bool complete) = 0;
};

}  // namespace muster::operators
