#include "cli/internal/step/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/internal/run/event_text.h"

namespace muster::cli {

namespace {

/// A job of a busy cluster waits this long for good reasons.
constexpr Duration kTellAfter = std::chrono::seconds(30);
constexpr Duration kTellSilenceAfter = std::chrono::minutes(10);
constexpr Duration kLongestTellPause = std::chrono::minutes(30);
/// A reason that comes back within this time was never gone.
constexpr Duration kSoon = std::chrono::seconds(60);
constexpr Duration kLater = std::chrono::milliseconds(1);

constexpr std::array<std::string_view, 6> kImageReasons = {
    "ErrImagePull",      "ImagePullBackOff",    "InvalidImageName",
    "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError"};
constexpr std::array<std::string_view, 5> kContainerReasons = {
    "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreStartHookError",
    "PostStartHookError"};

std::optional<WaitReason> reason_of(const ContainerView& container) {
    const std::string_view waiting = container.waiting_reason;
    if (std::ranges::find(kImageReasons, waiting) != kImageReasons.end()) return WaitReason::kImage;
    if (std::ranges::find(kContainerReasons, waiting) != kContainerReasons.end())
        return WaitReason::kContainer;
    if (container.backs_off()) return WaitReason::kCrashLoop;
    return std::nullopt;
}

struct PodWait {
    WaitReason reason;
    std::string detail;
};

std::optional<PodWait> wait_of(const PodView& pod) {
    if (pod.finished() || pod.deleting) return std::nullopt;
    if (!pod.scheduled && !pod.not_scheduled.empty())
        return PodWait{WaitReason::kUnschedulable, pod.not_scheduled};
    for (const ContainerView& container : pod.containers) {
        const std::optional<WaitReason> reason = reason_of(container);
        if (!reason) continue;
        std::string detail = join_reason(container.waiting_reason, container.waiting_message);
        if (*reason == WaitReason::kCrashLoop && container.last_terminated)
            detail = fmt::format("its container {} {}, {} restarts", container.name,
                                 describe(*container.last_terminated), container.restarts);
        return PodWait{*reason, std::move(detail)};
    }
    return std::nullopt;
}

/// What API servers and operators say when pods may not be made.
bool forbids_pods(std::string_view warning) {
    return warning.contains("exceeded quota") || warning.contains("forbidden") ||
           warning.contains("denied the request");
}

}  // namespace

std::optional<Wait> what_it_waits_for(const StepState& state) {
    if (state.job == nullptr || state.job->finished()) return std::nullopt;
    const ConditionView* const suspended = state.job->true_condition("Suspended");
    if (suspended != nullptr) return std::nullopt;
    if (state.job->conditions.empty() && state.pods.empty())
        return Wait{WaitReason::kNoOperator, 0, state.wanted, {}};
    std::map<WaitReason, Wait> waits;
    int running = 0;
    int there = 0;
    for (const auto& [uid, pod] : state.pods) {
        if (pod.finished() || pod.deleting) continue;
        ++there;
        if (std::optional<PodWait> one = wait_of(pod)) {
            Wait& wait = waits[one->reason];
            if (wait.pods++ == 0) wait.detail = std::move(one->detail);
        } else if (pod.started()) {
            ++running;
        }
    }
    if (there < state.wanted && forbids_pods(state.job_warning))
        waits[WaitReason::kQuota] = {WaitReason::kQuota, state.wanted - there, 0,
                                     state.job_warning};
    for (auto& [reason, wait] : waits) {
        wait.reason = reason;
        wait.wanted = state.wanted;
    }
    // In the order of the enumeration: what keeps pods away comes first.
    if (!waits.empty()) return waits.begin()->second;
    if (running > 0 && running == there)
        return Wait{WaitReason::kSilence, running, state.wanted, {}};
    return std::nullopt;
}

std::string tell_wait(const Wait& wait) {
    const std::string pods = fmt::format("{} of {} pods", wait.pods, wait.wanted);
    const std::string detail = wait.detail.empty() ? "" : ": " + wait.detail;
    switch (wait.reason) {
        case WaitReason::kNoOperator:
            return "nothing has acted on the job, so no operator seems to run it here";
        case WaitReason::kQuota:
            return pods + " may not be made" + detail;
        case WaitReason::kUnschedulable:
            return pods + " have no node" + detail;
        case WaitReason::kImage:
            return pods + " have no image" + detail;
        case WaitReason::kContainer:
            return pods + " have no container" + detail;
        case WaitReason::kCrashLoop:
            return pods + " fail again and again" + detail;
        case WaitReason::kSilence:
            return "no pod has written a line";
    }
    return {};
}

StuckClock::Step StuckClock::waited(Instant now, const Wait& wait, Instant since,
                                    Duration tell_after, std::optional<Duration> limit) {
    Step step;
    const Duration lasted = now - since;
    if (limit && lasted >= *limit) {
        step.stuck = true;
        step.tell = fmt::format("{} for {}", tell_wait(wait),
                                tell_duration(std::chrono::duration<double>(lasted).count()));
        return step;
    }
    if (!tell_at_) {
        tell_at_ = since + tell_after;
        tell_pause_ = tell_after;
    }
    if (now >= *tell_at_) {
        step.tell = fmt::format("waits for {}: {}",
                                tell_duration(std::chrono::duration<double>(lasted).count()),
                                tell_wait(wait));
        tell_pause_ = std::min(tell_pause_ * 2, kLongestTellPause);
        tell_at_ = now + tell_pause_;
    }
    step.wake_at = tell_at_;
    if (limit) step.wake_at = std::min(*tell_at_, since + *limit);
    return step;
}

StuckClock::Step StuckClock::observe(Instant now, const std::optional<Wait>& wait,
                                     std::optional<Instant> last_line) {
    if (!wait || wait->reason != WaitReason::kSilence) silent_since_.reset();
    if (wait && wait->reason != WaitReason::kSilence) {
        const bool was_gone = gone_at_ && now - *gone_at_ > kSoon;
        if (!held_ || *held_ != wait->reason || was_gone) {
            since_ = now;
            tell_at_.reset();
        }
        held_ = wait->reason;
        gone_at_.reset();
        return waited(now, *wait, since_, kTellAfter, limits_.stuck_after);
    }
    if (held_ && !gone_at_) gone_at_ = now;
    const bool again = held_ && now - *gone_at_ <= kSoon;  // the reason may come back
    if (held_ && !again) {
        held_.reset();
        gone_at_.reset();
        tell_at_.reset();
    }
    if (!wait)
        return again ? Step{.tell = {}, .stuck = false, .wake_at = *gone_at_ + kSoon + kLater}
                     : Step{};
    if (!silent_since_) silent_since_ = now;
    if (last_line && *last_line > *silent_since_) {
        silent_since_ = *last_line;
        tell_at_.reset();
    }
    if (again) {
        const bool over = limits_.silent_after && now - *silent_since_ >= *limits_.silent_after;
        if (!over) {
            Instant wake_at = *gone_at_ + kSoon + kLater;
            if (limits_.silent_after)
                wake_at = std::min(wake_at, *silent_since_ + *limits_.silent_after);
            return {.tell = {}, .stuck = false, .wake_at = wake_at};
        }
    }
    return waited(now, *wait, *silent_since_, kTellSilenceAfter, limits_.silent_after);
}

}  // namespace muster::cli
