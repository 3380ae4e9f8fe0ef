#include "cli/internal/push/job_progress.h"

#include <algorithm>

namespace muster::cli {

namespace {

double seconds_from(Instant from, Instant to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void JobProgress::observe(Instant now, const JobView* job, int restarts) {
    restarts_ = std::max(restarts_, restarts);
    if (job == nullptr || ended_at_) return;
    if (!came_at_) came_at_ = now;
    const auto* const holds = std::ranges::find_if(kJobStates, [job](std::string_view state) {
        return job->true_condition(state) != nullptr;
    });
    if (holds != kJobStates.end() || state_.empty())
        state_ = holds == kJobStates.end() ? kJobStates.back() : *holds;
    if (!ran_at_ && state_ == "Running") ran_at_ = now;
    if (job->finished()) ended_at_ = now;
}

JobMetrics JobProgress::metrics(Instant now) const {
    JobMetrics made{.state = state_, .restarts = restarts_};
    if (!came_at_) return made;
    const Instant end = ended_at_.value_or(now);
    made.wait_seconds = seconds_from(*came_at_, ran_at_.value_or(end));
    if (ran_at_) made.run_seconds = seconds_from(*ran_at_, end);
    return made;
}

}  // namespace muster::cli
