#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "jobs/job.h"

namespace muster::operators {

/// The state of a job in one word; its conditions say more.
enum class JobState : std::uint8_t {
    kNew,  ///< the operator has not written anything yet
    kCreated,
    kRunning,
    kRestarting,
    kSuspended,
    kSucceeded,
    kFailed,
};

/// "Running"; that of kNew is "New".
std::string_view name_of(JobState state);
JobState state_of(const jobs::JobStatus& status);

struct Transition {
    JobState from;
    JobState to;
    std::string_view when;
};

/// All transitions. The status of every plan is checked against this table before it is written, and
/// docs/states.md is made from it.
std::span<const Transition> transitions();

/// True for a transition of the table, and if there is no change. A new job may have gone through
/// several states before its first status is written, if an operator that died made its pods.
bool may_follow(JobState from, JobState to);

/// docs/states.md.
std::string states_document();

}  // namespace muster::operators
