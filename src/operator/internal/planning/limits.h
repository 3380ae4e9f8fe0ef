#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "jobs/job.h"
#include "operator/internal/cache/job_facts.h"
#include "operator/internal/cache/replica_totals.h"

namespace muster::operators {

// The limits that a job may set itself, each as a function of plain values.

/// Upstream's rule, which leaves no room for a last restart: the one that reaches the limit is one
/// too many, and with a limit of 0 it is the first (training-operator pkg/core/job.go,
/// PastBackoffLimit).
bool past_backoff_limit(std::optional<std::int32_t> limit, std::int32_t restarts);

/// When the job has been active for too long; nothing without a limit or before it began.
std::optional<WallTime> deadline_of(const JobFacts& facts, const jobs::JobStatus& status);

/// When a finished job is deleted; nothing without a TTL or while it is suspended (upstream, from
/// 1.8.1 on).
std::optional<WallTime> expiry_of(const JobFacts& facts, const jobs::JobStatus& status);

// A group whose pods fail again and again is restarted after a pause, as a kubelet pauses between
// two starts of a container: none the first time, then 10 s, doubled each time up to 5 minutes. If
// it runs for 10 minutes, twice the longest pause, the next restart counts as a first one.

/// How many group restarts in a row there are, including one that happens now.
std::int32_t restarts_in_a_row(const jobs::JobStatus& status, WallTime now);
/// The pause before the last of that many restarts in a row.
std::chrono::seconds pause_before_restart(std::int32_t in_a_row);
/// When the pods of the last group restart may be made; nothing if that has passed.
std::optional<WallTime> end_of_pause(const jobs::JobStatus& status, WallTime now);

// The pods of one replica follow each other after the same pauses. They are reckoned from the pod
// before, which stays in the API until then if it failed: whichever operator looks, finds the same.

struct Pause {
    std::int32_t in_a_row = 0;  ///< pods that went, including this one
    std::chrono::seconds length{};
    std::optional<WallTime> end;  ///< nothing if it has passed
};
/// The pause after a pod of a replica. If it is unknown when it ended, it is as long after the
/// pod's creation, so that pods are made no faster.
Pause pause_after(const FormerObject& pod, WallTime now);

/// The time to write for what begins or ends now. Times are written in whole seconds, and what is
/// reckoned from them must not come early.
WallTime whole_second_from(WallTime now);

/// Messages of the Failed condition.
std::string backoff_message(std::string_view job_name);
std::string deadline_message(std::string_view job_name);
/// Whether a limit ended the job; then everything that still runs is stopped. That pods have waited
/// for too long is told by a reason of ours. Of the others only the message of the condition tells: its reason is upstream's, the same for every failure; counts and times are
/// ambiguous (a replica that failed for good takes precedence over a limit that was reached with it,
/// and the limits of a job that has ended can still be edited); and a field or an annotation of ours
/// would be missing on jobs that upstream ended. The texts above are upstream's too, and the
/// condition of a failed job does not change.
bool ended_by_limit(const jobs::JobStatus& status, std::string_view job_name);

/// Whether the pods that still run go after the end of which this status tells: cleanPodPolicy says
/// so, or a limit ended the job.
bool stops_what_runs(const JobFacts& facts, const jobs::JobStatus& status,
                     std::string_view job_name);

}  // namespace muster::operators
