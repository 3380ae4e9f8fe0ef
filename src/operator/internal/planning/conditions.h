#pragma once

#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "jobs/job.h"

namespace muster::operators {

namespace conditions {
inline constexpr std::string_view kCreated = "Created";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kRestarting = "Restarting";
inline constexpr std::string_view kSuspended = "Suspended";
/// An object of another owner has a name that the job needs, or the cluster lacks a type of object
/// that it needs. This condition and Queued are removed with their causes.
inline constexpr std::string_view kBlocked = "Blocked";
/// No replica that decides runs yet, of kinds that say so; removed when one does.
inline constexpr std::string_view kPending = "Pending";
/// The pods are not made yet because the gang's scheduler has not admitted it.
inline constexpr std::string_view kQueued = "Queued";
/// Replicas that the job has do not run, and for how long it does without them; removed when they do.
/// Its text is always what holds now.
inline constexpr std::string_view kIncomplete = "Incomplete";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kFailed = "Failed";
}  // namespace conditions

struct ConditionChange {
    std::string_view type;
    bool status = true;
    std::string reason;
    std::string message;
};

/// Changes one condition by the rules of training-operator v1.9 (pkg/util/status.go), made strict:
///
/// - nothing changes once Succeeded or Failed is true (upstream: Failed only, so both could be);
/// - equal type, status and reason is not a change, whatever the message;
/// - a changed condition moves to the end, which is what the State column prints;
/// - Running and Restarting exclude each other; Succeeded and Failed turn Running false in place.
///
/// True if the status changed.
bool set_condition(jobs::JobStatus& status, const ConditionChange& change, WallTime now);

/// Another message of a condition that stands: it is true still, and there is more to tell.
void change_message(jobs::JobStatus& status, std::string_view type, std::string message,
                    WallTime now);

void remove_condition(jobs::JobStatus& status, std::string_view type);

}  // namespace muster::operators
