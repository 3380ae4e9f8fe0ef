#include "cli/internal/step/step_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/internal/operator/spare_memory.h"
#include "cli/internal/run/event_text.h"
#include "cli/internal/step/stuck.h"
#include "kube/objects/api_status.h"

namespace muster::cli {

namespace {

/// A watch does not say that its server is away: it only stays silent.
constexpr Duration kBetweenQuestions = std::chrono::seconds(20);
constexpr Duration kWhileAway = std::chrono::seconds(2);
/// When what only the start needed is used no more, and how often memory is given back later.
constexpr Duration kStarted = std::chrono::seconds(3);
constexpr Duration kBetweenReturns = std::chrono::seconds(10);
constexpr Duration kTellAwayAfter = std::chrono::seconds(30);

std::string tell_time(Duration time) {
    return tell_duration(std::chrono::duration<double>(time).count());
}

}  // namespace

StepWatch::StepWatch(Clock& clock, kube::Client& client, Console& console, RunSession& session,
                     const StepRequest& request, const manifest::CheckedObject& job)
    : clock_(clock),
      client_(client),
      console_(console),
      session_(session),
      request_(request),
      type_(job.type),
      namespace_(job.namespace_),
      name_(job.name) {}

void StepWatch::start(TaskGroup& tasks) {
    tasks_ = &tasks;
    tasks.spawn_essential("look what the job waits for", look());
    tasks.spawn_essential("ask whether the server is there", ask());
    tasks.spawn("give memory back", stay_small());
}

const JobView* StepWatch::job() const {
    const auto& jobs = session_.watcher().jobs();
    return jobs.empty() ? nullptr : &jobs.begin()->second;
}

Task<void> StepWatch::wake(Instant when) {
    co_await clock_.sleep_until(when);
    if (wakes_at_ == when) wakes_at_.reset();
    session_.changed().notify_all();
}

/// A step stays for days beside what it waits for.
Task<void> StepWatch::stay_small() {
    co_await clock_.sleep_for(kStarted);
    give_back_program_pages();
    for (;;) {
        give_back_spare_memory();
        co_await clock_.sleep_for(kBetweenReturns);
    }
}

Task<void> StepWatch::look() {
    StuckClock clock(
        {.stuck_after = request_.limits.stuck_after, .silent_after = request_.limits.silent_after});
    while (session_.stopped() == RunSession::Stop::kNone) {
        const JobView* const seen = job();
        const StepState state{
            .job = seen,
            .pods = session_.watcher().pods(),
            .wanted = request_.pods(),
            .job_warning = seen == nullptr ? "" : session_.history().warning_about(seen->uid)};
        const StuckClock::Step step =
            clock.observe(clock_.now(), what_it_waits_for(state), session_.logs().last_line_at());
        if (step.tell)
            console_.tell({Tone::kBad, fmt::format("job {} {}{}", name_,
                                                   step.stuck ? "is stuck: " : "", *step.tell)});
        if (step.stuck) co_return session_.stop(RunSession::Stop::kStuck);
        // One that wakes too early does no harm.
        if (step.wake_at && (!wakes_at_ || *step.wake_at < *wakes_at_)) {
            wakes_at_ = step.wake_at;
            tasks_->spawn("wake", wake(*step.wake_at));
        }
        co_await session_.changed().wait();
    }
}

Task<void> StepWatch::ask() {
    std::optional<Instant> away_since;
    bool told = false;
    bool was_missing = false;
    for (;;) {
        co_await clock_.sleep_for(std::min<Duration>(away_since ? kWhileAway : kBetweenQuestions,
                                                     request_.limits.away_after));
        const Instant asked = clock_.now();
        const auto answer = co_await client_.get(type_, namespace_, name_);
        // A watch that was broken when the job went may not know of it.
        const bool missing =
            session_.posted() && !answer && answer.error().code() == Code::kNotFound;
        if (missing && was_missing) session_.lose_jobs();
        was_missing = missing;
        if (answer || !kube::is_away(answer.error())) {
            if (told) console_.tell({Tone::kGood, "the API server answers again"});
            away_since.reset();
            told = false;
            continue;
        }
        if (!away_since) away_since = asked;
        const Duration away = clock_.now() - *away_since;
        if (away >= request_.limits.away_after) {
            console_.tell({Tone::kBad, fmt::format("the API server has not answered for {}: {}",
                                                   tell_time(away), answer.error().message())});
            co_return session_.stop(RunSession::Stop::kAway);
        }
        if (told || away < kTellAwayAfter) continue;
        told = true;
        console_.tell(
            {Tone::kBad,
             fmt::format("the API server does not answer; the job continues, and so does this step "
                         "for {}: {}",
                         tell_time(request_.limits.away_after - away), answer.error().message())});
    }
}

}  // namespace muster::cli
