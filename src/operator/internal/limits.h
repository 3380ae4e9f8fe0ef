#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "jobs/job.h"
#include "operator/internal/job_facts.h"

namespace muster::operators {

// The limits that a job may set itself, each as a question over plain values.

/// Upstream's rule, which has no place for a last restart: the one that reaches the limit is one
/// too many, and with a limit of 0 the first (training-operator pkg/core/job.go,
/// PastBackoffLimit).
bool past_backoff_limit(std::optional<std::int32_t> limit, std::int32_t restarts);

/// When the job has been active for too long; nothing without a limit, or before it began.
std::optional<WallTime> deadline_of(const JobFacts& facts, const jobs::JobStatus& status);

/// When a finished job is deleted; nothing without a TTL, and while it is suspended (upstream, from
/// 1.8.1 on).
std::optional<WallTime> expiry_of(const JobFacts& facts, const jobs::JobStatus& status);

/// Messages of the Failed condition.
std::string backoff_message(std::string_view job_name);
std::string deadline_message(std::string_view job_name);
/// True when a limit ended the job: then what still runs is stopped. The message is all that the
/// status has to tell it by.
bool ended_by_limit(const jobs::JobStatus& status, std::string_view job_name);

}  // namespace muster::operators
