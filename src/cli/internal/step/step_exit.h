#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/internal/run/run_session.h"

namespace muster::cli {

/// How a step ends; the value is its exit code.
enum class StepEnd {
    kSucceeded = 0,
    kFailed = 1,
    kBadInput = 2,
    kLost = 3,
    kAway = 4,
    kStuck = 5,
    kTimedOut = 124,
    kInterrupted = 130,
    kReaderGone = 141,
    kTerminated = 143,
};

struct StepEndRow {
    StepEnd end;
    std::string_view meaning;
};
/// What each exit code means, for help and documentation.
std::span<const StepEndRow> step_ends();

/// What a run has come to.
struct RunOutcome {
    RunSession::Stop stopped = RunSession::Stop::kNone;
    bool posted = false;  ///< the job was created
    bool away = false;    ///< or the server did not let us
    bool lost = false;    ///< someone else deleted it
    bool succeeded = false;
    std::string condition = {};  ///< that ended it: reason and message
};

/// Pure.
StepEnd step_end(const RunOutcome& outcome);

}  // namespace muster::cli
