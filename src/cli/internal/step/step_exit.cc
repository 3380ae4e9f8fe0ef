#include "cli/internal/step/step_exit.h"

namespace muster::cli {

namespace {

constexpr StepEndRow kStepEnds[] = {
    {StepEnd::kSucceeded, "the job succeeded"},
    {StepEnd::kFailed, "the job failed"},
    {StepEnd::kBadInput, "an argument or a variable is wrong, or the server refused the job"},
    {StepEnd::kLost, "the job was deleted by someone else"},
    {StepEnd::kAway, "the API server did not answer, or did not let the step in"},
    {StepEnd::kStuck,
     "the job could not run for --stuck-after, or wrote nothing for --silent-after"},
    {StepEnd::kTimedOut, "--timeout, --replace-timeout, or the job's own deadline"},
    {StepEnd::kInterrupted, "SIGINT: the job was deleted"},
    {StepEnd::kReaderGone, "the reader of the output went away: the job was deleted"},
    {StepEnd::kTerminated, "SIGTERM: the job was deleted"},
};

/// In upstream's words, which the operator keeps.
constexpr std::string_view kPastDeadline = "active longer than specified deadline";

}  // namespace

std::span<const StepEndRow> step_ends() { return kStepEnds; }

StepEnd step_end(const RunOutcome& outcome) {
    if (outcome.stopped != RunSession::Stop::kNone) return static_cast<StepEnd>(outcome.stopped);
    if (!outcome.posted) return outcome.away ? StepEnd::kAway : StepEnd::kBadInput;
    if (outcome.succeeded) return StepEnd::kSucceeded;
    if (outcome.lost) return StepEnd::kLost;
    return outcome.condition.contains(kPastDeadline) ? StepEnd::kTimedOut : StepEnd::kFailed;
}

}  // namespace muster::cli
