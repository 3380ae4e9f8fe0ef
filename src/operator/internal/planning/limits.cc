#include "operator/internal/planning/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/values/time.h"
#include "operator/internal/pending/pending.h"
#include "operator/internal/planning/conditions.h"

namespace muster::operators {
namespace {

/// If the sum overflows, a time later than any clock shows.
std::optional<WallTime> later(const std::string& time, std::int64_t seconds) {
    const std::optional<WallTime> from = kube::parse_time(time);
    if (!from) return std::nullopt;
    const auto room = std::chrono::duration_cast<std::chrono::seconds>(WallTime::max() - *from);
    return *from + std::min(std::chrono::seconds(seconds), room);
}

constexpr std::chrono::seconds kFirstPause{10};
constexpr std::chrono::seconds kLongestPause{300};

/// The end of a pause that began then; nothing if it has passed, and after a time that is so far
/// ahead that the clock must have been set back: it is unknown how long it has been.
std::optional<WallTime> end_of_one_pause(WallTime began, std::chrono::seconds pause, WallTime now) {
    const bool unknown = began > now + kLongestPause;
    if (pause.count() == 0 || unknown || now >= began + pause) return std::nullopt;
    return began + pause;
}

}  // namespace

bool past_backoff_limit(std::optional<std::int32_t> limit, std::int32_t restarts) {
    if (!limit) return false;
    return *limit == 0 ? restarts > 0 : restarts >= *limit;
}

std::optional<WallTime> deadline_of(const JobFacts& facts, const jobs::JobStatus& status) {
    if (!facts.deadline_seconds) return std::nullopt;
    return later(status.start_time, *facts.deadline_seconds);
}

std::optional<WallTime> expiry_of(const JobFacts& facts, const jobs::JobStatus& status) {
    if (!facts.ttl_seconds || facts.suspend || !status.finished()) return std::nullopt;
    if (!status.completion_time.empty()) return later(status.completion_time, *facts.ttl_seconds);
    // Upstream never deletes such jobs.
    const auto end = std::ranges::find_if(status.conditions, [](const jobs::JobCondition& one) {
        return one.status == "True" &&
               (one.type == conditions::kSucceeded || one.type == conditions::kFailed);
    });
    return later(end->last_transition_time, *facts.ttl_seconds);
}

std::int32_t restarts_in_a_row(const jobs::JobStatus& status, WallTime now) {
    const std::optional<WallTime> last = kube::parse_time(status.last_restart_time);
    const std::int32_t before = status.restarts_in_a_row.value_or(0);
    // Its pods are made when the pause is over, and have the whole time to prove themselves.
    const bool soon = last && now - *last < pause_before_restart(before) + kKeptUp;
    return soon ? before + 1 : 1;
}

std::chrono::seconds pause_before_restart(std::int32_t in_a_row) {
    std::chrono::seconds pause{0};
    for (std::int32_t i = 1; i < in_a_row && pause < kLongestPause; ++i)
        pause = std::min(std::max(pause * 2, kFirstPause), kLongestPause);
    return pause;
}

std::optional<WallTime> end_of_pause(const jobs::JobStatus& status, WallTime now) {
    const std::optional<WallTime> last = kube::parse_time(status.last_restart_time);
    if (!last) return std::nullopt;
    return end_of_one_pause(*last, pause_before_restart(status.restarts_in_a_row.value_or(0)), now);
}

Pause pause_after(const FormerObject& pod, WallTime now) {
    const WallTime end = pod.ended_at.value_or(now);
    Pause pause;
    pause.in_a_row = end - pod.created >= kKeptUp ? 1 : pod.in_a_row + 1;
    pause.length = pause_before_restart(pause.in_a_row);
    pause.end = end_of_one_pause(pod.ended_at.value_or(pod.created), pause.length, now);
    return pause;
}

WallTime whole_second_from(WallTime now) { return std::chrono::ceil<std::chrono::seconds>(now); }

std::string backoff_message(std::string_view job_name) {
    return fmt::format("Job {} has failed because it has reached the specified backoff limit",
                       job_name);
}

std::string deadline_message(std::string_view job_name) {
    return fmt::format("Job {} has failed because it was active longer than specified deadline",
                       job_name);
}

namespace {

bool ended_by_wait(const jobs::JobCondition& failed) {
    return failed.reason.ends_with(kPendingTimeout) || failed.reason.ends_with(kUncompletedTimeout);
}

}  // namespace

bool ended_by_limit(const jobs::JobStatus& status, std::string_view job_name) {
    return std::ranges::any_of(status.conditions, [&](const jobs::JobCondition& condition) {
        return condition.type == conditions::kFailed && condition.status == "True" &&
               (condition.message == backoff_message(job_name) ||
                condition.message == deadline_message(job_name) || ended_by_wait(condition));
    });
}

bool stops_what_runs(const JobFacts& facts, const jobs::JobStatus& status,
                     std::string_view job_name) {
    return facts.clean != CleanPolicy::kNone || ended_by_limit(status, job_name);
}

}  // namespace muster::operators
