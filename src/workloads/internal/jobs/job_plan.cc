#include "workloads/internal/jobs/job_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/time/bounded_seconds.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "workloads/internal/jobs/conditions.h"
#include "workloads/internal/jobs/index_intervals.h"
#include "workloads/internal/jobs/job_spec.h"
#include "workloads/internal/jobs/pod_pause.h"
#include "workloads/internal/pods/pod_ranking.h"

namespace muster::workloads {

namespace {

constexpr std::string_view kReached = "CompletionsReached";
constexpr std::string_view kReachedText = "Reached expected number of succeeded pods";

using Uids = std::unordered_set<std::string>;

/// How a Job ends, though perhaps not all of its pods are gone.
struct Ending {
    bool success = false;
    std::string reason;
    std::string message;
};

/// A status in the hands of one decision.
class JobPlanner {
  public:
    JobPlanner(const json::object& job, const std::vector<PodPtr>& pods, WallTime now)
        : pods_(pods), now_(now), spec_(read_job_spec(job)), deleting_(kube::is_deleting(job)) {
        plan_.status = kube::child(job, "status");
    }

    JobPlan plan();

  private:
    json::object& status() { return plan_.status; }
    std::int64_t number(std::string_view key) const {
        return kube::int_at(plan_.status, key).value_or(0);
    }
    void set_number(std::string_view key, std::int64_t value) {
        if (value > 0)
            plan_.status[key] = value;
        else
            plan_.status.erase(key);
    }
    void come_back(WallTime when) {
        if (!plan_.again || when < *plan_.again) plan_.again = when;
    }
    std::optional<WallTime> time(std::string_view key) const {
        return kube::parse_time(kube::string_at(plan_.status, key));
    }
    bool failed(const PodFacts& pod) const { return has_failed(spec_, pod); }
    /// Its successor reads from it how often its index has failed.
    bool carries_count(const PodFacts& pod) const {
        return by_index_ && by_index_->is_carrier(pod);
    }
    bool valid_index(const PodFacts& pod) const { return has_valid_index(spec_, pod); }

    bool plan_finished();
    void read_counters();
    void count_pods();
    void start();
    std::optional<Ending> known_ending() const;
    std::optional<Ending> failure();
    std::optional<Ending> failure_of_indexes() const;
    std::optional<Ending> success_by_policy() const;
    std::optional<Ending> deadline();
    void remove(std::vector<PodPtr> pods, bool uncounted);
    void manage();
    void remove_too_many(std::int64_t wanted);
    void make(std::int64_t count);
    std::vector<std::int64_t> indexes_to_make(std::int64_t count);
    std::vector<std::int64_t> ripe(const std::vector<std::int64_t>& indexes);
    std::optional<Ending> completion();
    void note_suspension();
    void track(const std::optional<Ending>& ending);
    void count_end(const PodFacts& pod, bool fails);
    void end(const Ending& ending);
    void write_status();

    const std::vector<PodPtr>& pods_;
    const WallTime now_;
    const JobSpec spec_;
    const bool deleting_;
    JobPlan plan_;
    std::vector<PodPtr> active_;
    std::int64_t ready_ = 0;
    std::int64_t terminating_ = 0;
    std::int64_t succeeded_ = 0;  ///< with those that are not in the counters yet
    std::int64_t failed_ = 0;
    Uids uncounted_succeeded_;
    Uids uncounted_failed_;
    std::string fails_job_;                    ///< what a podFailurePolicy says
    IndexIntervals completed_;                 ///< as the status says
    IndexIntervals all_completed_;             ///< with pods that ended since
    std::optional<FailuresByIndex> by_index_;  ///< of a Job with a limit per index
    bool counted_all_ = true;
};

Uids uids_at(const json::object& parent, std::string_view key) {
    Uids uids;
    for (std::string& uid : kube::strings_at(parent, key)) uids.insert(std::move(uid));
    return uids;
}

json::array texts(const Uids& uids) {
    std::vector<std::string_view> sorted(uids.begin(), uids.end());
    std::ranges::sort(sorted);
    return json::array(sorted.begin(), sorted.end());
}

/// Its pods are let go, and the Job after its time.
bool JobPlanner::plan_finished() {
    const json::object* ended = nullptr;
    for (const char* type : {"Complete", "Failed"})
        if (is_true(plan_.status, type)) ended = condition_of(plan_.status, type);
    if (ended == nullptr) return false;
    for (const PodPtr& pod : pods_)
        if (pod->tracked) plan_.untrack.push_back(pod);
    plan_.active = number("active");
    const auto at = kube::parse_time(kube::string_at(*ended, "lastTransitionTime"));
    if (!spec_.ttl_seconds || deleting_ || !at) return true;
    const WallTime due = *at + bounded_seconds(*spec_.ttl_seconds);
    plan_.delete_job = due <= now_;
    if (!plan_.delete_job) come_back(due);
    return true;
}

/// Uids whose pods have lost their finalizer become numbers.
void JobPlanner::read_counters() {
    const json::object& uncounted = kube::child(plan_.status, "uncountedTerminatedPods");
    uncounted_succeeded_ = uids_at(uncounted, "succeeded");
    uncounted_failed_ = uids_at(uncounted, "failed");
    std::unordered_set<std::string_view> tracked;
    for (const PodPtr& pod : pods_)
        if (pod->tracked) tracked.insert(pod->uid);
    const auto settle = [&](Uids& uids, std::string_view counter) {
        const auto settled =
            std::erase_if(uids, [&](const std::string& uid) { return !tracked.contains(uid); });
        set_number(counter, number(counter) + static_cast<std::int64_t>(settled));
    };
    settle(uncounted_succeeded_, "succeeded");
    settle(uncounted_failed_, "failed");
    if (spec_.indexed)
        completed_ = IndexIntervals::parse(kube::string_at(plan_.status, "completedIndexes"),
                                           *spec_.completions);
}

void JobPlanner::count_pods() {
    succeeded_ = number("succeeded") + static_cast<std::int64_t>(uncounted_succeeded_.size());
    failed_ = number("failed") + static_cast<std::int64_t>(uncounted_failed_.size());
    all_completed_ = completed_;
    for (const PodPtr& pod : pods_) {
        if (pod->active()) {
            active_.push_back(pod);
            ready_ += pod->ready ? 1 : 0;
        }
        terminating_ += pod->terminating() ? 1 : 0;
        const bool fails = failed(*pod);
        const FailureVerdict verdict = fails ? judge_failure(spec_, *pod) : FailureVerdict{};
        if (fails && fails_job_.empty()) fails_job_ = verdict.fails_job;
        if (!pod->tracked || !valid_index(*pod)) continue;
        if (pod->phase == PodPhase::kSucceeded && !uncounted_failed_.contains(pod->uid)) {
            succeeded_ += uncounted_succeeded_.contains(pod->uid) ? 0 : 1;
            if (spec_.indexed) all_completed_.add(*pod->index);
        } else if (fails && verdict.counts) {
            failed_ += uncounted_failed_.contains(pod->uid) ? 0 : 1;
        }
    }
    if (!spec_.indexed) return;
    succeeded_ = all_completed_.count();
    if (spec_.backoff_limit_per_index)
        by_index_.emplace(spec_, pods_,
                          IndexIntervals::parse(kube::string_at(plan_.status, "failedIndexes"),
                                                *spec_.completions),
                          all_completed_);
}

void JobPlanner::start() {
    if (!spec_.suspended && !time("startTime")) plan_.status["startTime"] = kube::format_time(now_);
}

std::optional<Ending> JobPlanner::known_ending() const {
    for (const bool success : {true, false}) {
        const char* type = success ? "SuccessCriteriaMet" : "FailureTarget";
        if (!is_true(plan_.status, type)) continue;
        const json::object& known = *condition_of(plan_.status, type);
        return Ending{success, std::string(kube::string_at(known, "reason")),
                      std::string(kube::string_at(known, "message"))};
    }
    return std::nullopt;
}

std::optional<Ending> JobPlanner::failure() {
    if (!fails_job_.empty()) return Ending{false, "PodFailurePolicy", fails_job_};
    std::int64_t restarts = 0;
    if (spec_.restarts_in_place)
        for (const PodPtr& pod : pods_) restarts += pod->ended() ? 0 : pod->restarts;
    const bool restarted_too_often =
        restarts > 0 && restarts >= std::max<std::int64_t>(spec_.backoff_limit, 1);
    if (failed_ > spec_.backoff_limit || restarted_too_often)
        return Ending{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
    return deadline();
}

std::optional<Ending> JobPlanner::failure_of_indexes() const {
    if (!by_index_) return std::nullopt;
    const std::int64_t failed = by_index_->failed().count();
    if (spec_.most_failed_indexes && failed > *spec_.most_failed_indexes)
        return Ending{false, "MaxFailedIndexesExceeded",
                      "Job has exceeded the specified maximal number of failed indexes"};
    if (failed > 0 && failed + succeeded_ >= *spec_.completions)
        return Ending{false, "FailedIndexes", "Job has failed indexes"};
    return std::nullopt;
}

std::optional<Ending> JobPlanner::success_by_policy() const {
    for (std::size_t i = 0; i < spec_.success_rules.size(); ++i) {
        const SuccessRule& rule = spec_.success_rules[i];
        std::int64_t matched = succeeded_;
        std::int64_t enough = rule.count.value_or(*spec_.completions);
        if (!rule.indexes.empty()) {
            const auto wanted = IndexIntervals::parse(rule.indexes, *spec_.completions);
            matched = wanted.count_in(all_completed_);
            enough = rule.count.value_or(wanted.count());
        }
        if (matched >= enough)
            return Ending{true, "SuccessPolicy", fmt::format("Matched rules at index {}", i)};
    }
    return std::nullopt;
}

std::optional<Ending> JobPlanner::deadline() {
    const std::optional<WallTime> started = time("startTime");
    if (!spec_.deadline_seconds || spec_.suspended || !started) return std::nullopt;
    const WallTime due = *started + bounded_seconds(*spec_.deadline_seconds);
    if (due <= now_)
        return Ending{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
    come_back(due);
    return std::nullopt;
}

void JobPlanner::remove(std::vector<PodPtr> pods, bool uncounted) {
    const std::unordered_set<PodPtr> gone(pods.begin(), pods.end());
    for (const PodPtr& pod : pods) ready_ -= pod->ready ? 1 : 0;
    terminating_ += static_cast<std::int64_t>(pods.size());
    std::erase_if(active_, [&](const PodPtr& pod) { return gone.contains(pod); });
    plan_.remove = std::move(pods);
    plan_.uncounted_removal = uncounted;
}

/// Brings the number of pods to what is wanted: by removals or by new ones, not both in one turn.
void JobPlanner::manage() {
    if (spec_.suspended) return remove(active_, true);
    const auto active = static_cast<std::int64_t>(active_.size());
    std::int64_t wanted = spec_.parallelism;
    if (spec_.completions)
        wanted = std::clamp<std::int64_t>(*spec_.completions - succeeded_, 0, spec_.parallelism);
    else if (succeeded_ > 0)
        wanted = active;
    remove_too_many(wanted);
    if (!plan_.remove.empty()) return;
    const std::int64_t leaving = spec_.replaces_only_failed ? terminating_ : 0;
    const std::int64_t missing = wanted - active - leaving;
    if (missing <= 0) return;
    const WallTime allowed = by_index_ ? now_ : next_pod_allowed(pods_, now_);
    if (allowed > now_) return come_back(allowed);
    make(std::min(missing, kMostPodsInOneTurn));
}

void JobPlanner::remove_too_many(std::int64_t wanted) {
    std::vector<PodPtr> rest;
    std::vector<PodPtr> gone;
    std::unordered_set<std::int64_t> taken;
    for (const PodPtr& pod : active_) {
        const bool superfluous =
            spec_.indexed && (!valid_index(*pod) || !taken.insert(*pod->index).second);
        (superfluous ? gone : rest).push_back(pod);
    }
    const auto too_many = static_cast<std::int64_t>(active_.size()) - wanted;
    const auto found = static_cast<std::int64_t>(gone.size());
    if (found < too_many) {
        rank_for_removal(rest);
        gone.insert(gone.end(), rest.begin(), rest.begin() + (too_many - found));
    }
    if (static_cast<std::int64_t>(gone.size()) > kMostPodsInOneTurn)
        gone.resize(kMostPodsInOneTurn);
    if (!gone.empty()) remove(std::move(gone), true);
}

void JobPlanner::make(std::int64_t count) {
    plan_.make = count;
    if (!spec_.indexed) return;
    plan_.indexes = indexes_to_make(count);
    plan_.make = static_cast<std::int64_t>(plan_.indexes.size());
}

std::vector<std::int64_t> JobPlanner::indexes_to_make(std::int64_t count) {
    IndexIntervals taken = all_completed_;
    if (by_index_) taken.add_all(by_index_->failed());
    for (const PodPtr& pod : pods_) {
        const bool there = pod->active() || (spec_.replaces_only_failed && pod->terminating());
        if (there && valid_index(*pod)) taken.add(*pod->index);
    }
    std::vector<std::int64_t> missing = taken.missing(count, *spec_.completions);
    return by_index_ ? ripe(missing) : missing;
}

/// Those whose pauses are over; each index has its own.
std::vector<std::int64_t> JobPlanner::ripe(const std::vector<std::int64_t>& indexes) {
    std::vector<std::int64_t> found;
    for (const std::int64_t index : indexes) {
        const WallTime allowed = by_index_->allowed(index, now_);
        if (allowed > now_) {
            come_back(allowed);
            continue;
        }
        found.push_back(index);
        plan_.failures.push_back(by_index_->next_of(index));
    }
    return found;
}

std::optional<Ending> JobPlanner::completion() {
    const bool enough = spec_.completions ? succeeded_ >= *spec_.completions : succeeded_ > 0;
    if (!enough || !active_.empty() || plan_.make > 0) return std::nullopt;
    return Ending{true, std::string(kReached), std::string(kReachedText)};
}

void JobPlanner::note_suspension() {
    if (spec_.suspended) {
        if (set_condition(plan_.status, {"Suspended", "True", "JobSuspended", "Job suspended"},
                          now_))
            plan_.events.push_back({false, "Suspended", "Job suspended"});
    } else if (set_condition(plan_.status, {"Suspended", "False", "JobResumed", "Job resumed"},
                             now_)) {
        plan_.events.push_back({false, "Resumed", "Job resumed"});
        plan_.status["startTime"] = kube::format_time(now_);
        if (spec_.deadline_seconds) come_back(now_ + bounded_seconds(*spec_.deadline_seconds));
    }
}

/// Writes down the ends of pods, and which of them may go afterwards.
void JobPlanner::track(const std::optional<Ending>& ending) {
    const bool all_fail = ending && !ending->success;
    for (const PodPtr& pod : pods_) {
        if (!pod->tracked) continue;
        const bool fails = failed(*pod);
        if (!deleting_ && !ending && pod->phase != PodPhase::kSucceeded &&
            (!fails || carries_count(*pod)))
            continue;
        const std::size_t written = uncounted_succeeded_.size() + uncounted_failed_.size();
        if (written >= static_cast<std::size_t>(kMostPodsInOneTurn)) {
            counted_all_ = false;
            return;
        }
        plan_.untrack.push_back(pod);
        count_end(*pod, fails || all_fail);
    }
}

void JobPlanner::count_end(const PodFacts& pod, bool fails) {
    if (!valid_index(pod)) return;
    if (pod.phase == PodPhase::kSucceeded && !uncounted_failed_.contains(pod.uid)) {
        if (spec_.indexed)
            completed_.add(*pod.index);
        else
            uncounted_succeeded_.insert(pod.uid);
    } else if (fails && judge_failure(spec_, pod).counts) {
        uncounted_failed_.insert(pod.uid);
    }
}

void JobPlanner::end(const Ending& ending) {
    const Condition target{ending.success ? "SuccessCriteriaMet" : "FailureTarget", "True",
                           ending.reason, ending.message};
    if (!is_true(plan_.status, target.type)) set_condition(plan_.status, target, now_);
    const bool all_gone = counted_all_ && plan_.untrack.empty() && plan_.remove.empty() &&
                          uncounted_succeeded_.empty() && uncounted_failed_.empty() &&
                          terminating_ == 0 && active_.empty();
    if (!all_gone) return;
    set_condition(plan_.status,
                  {ending.success ? "Complete" : "Failed", "True", ending.reason, ending.message},
                  now_);
    if (!ending.success) {
        plan_.events.push_back({true, ending.reason, ending.message});
        return;
    }
    plan_.status["completionTime"] = kube::format_time(now_);
    plan_.events.push_back({false, "Completed", "Job completed"});
    if (spec_.ttl_seconds) come_back(now_ + bounded_seconds(*spec_.ttl_seconds));
}

void JobPlanner::write_status() {
    plan_.active = static_cast<std::int64_t>(active_.size());
    set_number("active", plan_.active);
    plan_.status["ready"] = ready_;
    plan_.status["terminating"] = terminating_;
    if (spec_.indexed) {
        set_number("succeeded", completed_.count());
        const std::string text = completed_.text();
        if (text.empty())
            plan_.status.erase("completedIndexes");
        else
            plan_.status["completedIndexes"] = text;
    }
    if (by_index_) plan_.status["failedIndexes"] = by_index_->failed().text();
    json::object uncounted;
    if (!uncounted_succeeded_.empty()) uncounted["succeeded"] = texts(uncounted_succeeded_);
    if (!uncounted_failed_.empty()) uncounted["failed"] = texts(uncounted_failed_);
    plan_.status["uncountedTerminatedPods"] = std::move(uncounted);
}

JobPlan JobPlanner::plan() {
    plan_.active = number("active");
    if (spec_.managed_elsewhere || plan_finished()) return std::move(plan_);
    read_counters();
    count_pods();
    start();
    std::optional<Ending> ending = known_ending();
    if (!ending) ending = failure();
    if (!ending) ending = failure_of_indexes();
    if (!ending) ending = success_by_policy();
    if (ending) {
        remove(active_, false);
    } else if (!deleting_) {
        manage();
        ending = completion();
        if (!ending) note_suspension();
    }
    track(ending);
    if (ending) end(*ending);
    write_status();
    return std::move(plan_);
}

}  // namespace

JobPlan plan_job(const json::object& job, const std::vector<PodPtr>& pods, WallTime now) {
    return JobPlanner(job, pods, now).plan();
}

}  // namespace muster::workloads
