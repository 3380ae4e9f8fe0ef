#include "operator/internal/reconcile/job_reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/unexpected.h"
#include "operator/internal/planning/consistency_check.h"
#include "operator/internal/planning/manifest_findings.h"
#include "operator/internal/planning/planner.h"
#include "operator/internal/planning/states.h"

namespace muster::operators {
namespace {

/// How long a reconciliation runs before it checks whether another one would be better.
constexpr Duration kLongReconcile = std::chrono::milliseconds(15);

bool is_left_alone(const JobRecord& job) { return job.deleting || job.managed_elsewhere; }

bool makes_objects(const Plan& plan) {
    return plan.ensure_owned_objects || !plan.create_pods.empty() || !plan.create_services.empty();
}

/// Whether the news of a plan is that the job runs, and a status says all of it.
bool only_runs(const jobs::JobStatus& told, const Plan& next) {
    return state_of(*next.status) == JobState::kRunning && state_of(told) != JobState::kRunning &&
           next.delete_pods.empty() && next.delete_services.empty() &&
           next.delete_integrations.empty() && !next.claims();
}

/// The job continues: whoever may write its status can make any state of it, and one job's fault is
/// not to end the operator. A simulation, where the operator alone writes it, ends here.
void report_unknown_transition(const std::string& key, JobState from, JobState to) {
    if (may_follow(from, to)) return;
    report_unexpected("planning " + key,
                      std::make_exception_ptr(std::logic_error(
                          fmt::format("no job goes from {} to {}", name_of(from), name_of(to)))));
}

}  // namespace

JobReconciler::JobReconciler(
    JobCaches& caches, Executor& executor, kube::Controller& controller, Clock& clock,
    Options options, std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders)
    : caches_(caches),
      executor_(executor),
      controller_(controller),
      clock_(clock),
      options_(options),
      recorders_(std::move(recorders)),
      coalescer_(options.counts_wait) {}

Task<bool> JobReconciler::reconcile(std::string key) {
    const TurnResult turn = co_await reconcile_job(key);
    const JobPtr job = caches_.find(key);
    if (!concerns_plans(key, job)) co_return turn.complete;
    jobs::JobStatus status = job == nullptr ? jobs::JobStatus() : known_status(key, *job);
    // The rest of the pods does not wait for the plan of a master that is about to start.
    const bool reported =
        co_await options_.scale_plans->report(key, job, std::move(status), !turn.continues);
    co_return turn.complete&& reported;
}

bool JobReconciler::concerns_plans(const std::string& key, const JobPtr& job) const {
    return options_.scale_plans != nullptr && options_.scale_plans->concerns(key, job);
}

/// Whether a status of ours changes what the job's facts are, and the watch has not shown that yet: a
/// plan made from both would undo the change.
bool JobReconciler::lags(const std::string& key, const JobRecord& job) const {
    const PendingStatusWrite* ours = pending_.find(key);
    return ours != nullptr && job.kind->scale_plans && job.facts != nullptr &&
           !has_asked(job, asked_of(*job.facts, ours->status.unpack()));
}

Task<JobReconciler::TurnResult> JobReconciler::reconcile_job(std::string key) {
    const JobPtr job = caches_.find(key);
    if (job == nullptr) co_return TurnResult{};
    if (is_left_alone(*job) || removed_.contains(key)) {
        controller_.set_deadline(key, std::nullopt);
        co_return TurnResult{};
    }
    if (lags(key, *job)) co_return TurnResult{};
    std::optional<ScaleOrder> order;
    if (concerns_plans(key, job)) {
        auto next = co_await options_.scale_plans->next_order(key, job, known_status(key, *job));
        if (!next.has_value()) {
            log::warning("the manifest of a job could not be read",
                         {{"job", key}, {"error", next.error().message()}});
            co_return TurnResult{.complete = false};
        }
        if (caches_.find(key) != job) co_return TurnResult{};  // it is queued again
        order = *std::move(next);
    }
    Dependents& dependents = caches_.table().of(job->uid);
    dependents.expire(clock_.now());
    Turn turn{.key = key, .job = job, .version = job->resource_version, .plan = {}};
    turn.has_order = order.has_value();
    turn.plan = make_plan(key, *job, order ? &*order : nullptr, turn.version);
    controller_.set_deadline(key, turn.plan.requeue_at);
    if (const auto due = coalescer_.counts(key, turn.plan,
                                           dependents.owned_objects_ensured_before(), clock_.now()))
        controller_.requeue_at(key, *due);
    const bool is_first = job->status.empty() && pending_.find(key) == nullptr;
    turn.status_later = is_first && coalescer_.first_status(key, turn.plan);
    if (turn.plan.empty()) co_return TurnResult{};
    co_return co_await carry_out(std::move(turn));
}

Task<JobReconciler::TurnResult> JobReconciler::carry_out(Turn turn) {
    const JobPtr& job = turn.job;
    Plan& plan = turn.plan;
    std::shared_ptr<const jobs::Job> whole;
    if (makes_objects(plan)) {
        whole = co_await caches_.whole_job(job);
        if (!whole) co_return TurnResult{.complete = false};
    }
    const bool more = plan.more;
    const bool finishes = plan.status && plan.status->finished();
    const jobs::JobStatus before = known_status(turn.key, *job);
    const auto under_way =
        std::make_shared<UnderWay>(UnderWay{.key = turn.key,
                                            .job = job,
                                            .told = plan.status ? *plan.status : before,
                                            .look_at = clock_.now() + kLongReconcile,
                                            .may_tell = !turn.has_order});
    NewStatus status = plan.status ? new_status(before, *plan.status) : NewStatus{};
    const Execution done = co_await executor_.execute(
        job, std::move(whole), turn.version, std::move(plan), *recorders_.at(job->kind),
        [this, under_way](StatusTurn status_turn) { return look(*under_way, status_turn); });
    note_execution(turn, done, std::move(status), std::move(under_way->interim));
    if (const Instant until = caches_.table().of(job->uid).expire(clock_.now());
        until != Instant::max())
        controller_.requeue_at(turn.key, until);
    const bool rest_now = done.cut || (more && (done.complete || done.made_any));
    // What a finished job needs follows from its new status.
    if (rest_now || turn.status_later || (finishes && done.status_written))
        controller_.add(turn.key);
    co_return TurnResult{.complete = done.complete, .continues = rest_now};
}

/// A turn ends before everything is done if the job has changed, if others wait, or if the job has
/// reached something that must not be reported late and needs more than a status: that it runs is
/// written beside the pods that are still to be made.
Look JobReconciler::look(UnderWay& turn, StatusTurn status_turn) {
    const JobRecord& job = *turn.job;
    const JobPtr now = caches_.current(job);
    if (now == nullptr || now->deleting || now->generation != job.generation ||
        !has_asked(*now, job.asked ? *job.asked : Asked()) ||
        now->managed_elsewhere != job.managed_elsewhere)
        return {.enough = true};
    if (clock_.now() < turn.look_at) return {};
    turn.look_at = clock_.now() + kLongReconcile;
    if (controller_.ready() > 0 || status_turn == StatusTurn::kLost) return {.enough = true};
    // What is counted follows from statuses that are written: one that is on its way may be lost.
    if (!now->facts || status_turn == StatusTurn::kTaken) return {};
    Dependents& dependents = caches_.table().of(job.uid);
    dependents.configure(now->facts, turn.told);
    Plan next = plan(*now, turn.told, dependents, caches_.table().orphans_of(turn.key),
                     clock_.wall_now(), caches_.integrations().state_for(*now));
    if (!next.status || next.only_counts) return {};
    if (!turn.may_tell || !only_runs(turn.told, next)) return {.enough = true};
    report_unknown_transition(turn.key, state_of(turn.told), state_of(*next.status));
    turn.interim.push_back(new_status(turn.told, *next.status));
    turn.told = *next.status;
    return {.reached = InterimStatus{*std::move(next.status), std::move(next.events)}};
}

jobs::JobStatus JobReconciler::known_status(const std::string& key, const JobRecord& job) const {
    const PendingStatusWrite* ours = pending_.find(key);
    return (ours != nullptr ? ours->status : job.status).unpack();
}

// --- plans

/// Also moves `version` to the revision on which the plan's status is based.
Plan JobReconciler::make_plan(const std::string& key, const JobRecord& job, const ScaleOrder* order,
                              std::string& version) {
    const jobs::JobStatus status = known_status(key, job);
    if (const PendingStatusWrite* ours = pending_.find(key)) version = ours->version;
    if (job.facts) {
        Plan made = plan_and_check(key, job, status, order);
        if (status.start_time.empty() && made.status && !made.status->start_time.empty())
            std::ranges::move(warning_events(job.warnings), std::back_inserter(made.events));
        return made;
    }
    Plan invalid = plan_invalid(job, status, *job.problem, clock_.wall_now());
    if (!invalid.status && !invalid.events.empty()) {
        // An edit that is not in effect is reported once and not at every event of its pods.
        auto [warned, first] = warned_edits_.try_emplace(key, job.generation);
        if (!first && warned->second == job.generation) invalid.events.clear();
        warned->second = job.generation;
    }
    return invalid;
}

Plan JobReconciler::plan_and_check(const std::string& key, const JobRecord& job,
                                   const jobs::JobStatus& status, const ScaleOrder* order) {
    Dependents& dependents = caches_.table().of(job.uid);
    dependents.configure(job.facts, status);
    const Orphans& orphans = caches_.table().orphans_of(key);
    const IntegrationState integrations = caches_.integrations().state_for(job);
    const WallTime now = clock_.wall_now();
    Plan made = plan(job, status, dependents, orphans, now, integrations, order);
    if (made.status) report_unknown_transition(key, state_of(status), state_of(*made.status));
    if (options_.check_consistency) {
        const std::string found =
            inconsistencies(job, status, dependents, orphans, now, caches_.pods(),
                            caches_.services(), integrations, order);
        CHECK(found.empty(), found.c_str());
    }
    return made;
}

// --- their results

JobReconciler::NewStatus JobReconciler::new_status(const jobs::JobStatus& before,
                                                   const jobs::JobStatus& status) const {
    NewStatus made{.status = PackedStatus(status), .reached = {}};
    if (options_.observer != nullptr) made.reached = milestones(before, status);
    return made;
}

void JobReconciler::note_execution(const Turn& turn, const Execution& done, NewStatus status,
                                   std::vector<NewStatus> interim) {
    const JobRecord& job = *turn.job;
    if (done.status_written)
        note_status(turn, turn.version, done.resource_version, std::move(status));
    // The last of them may not have been accepted.
    for (std::size_t i = 0; i < done.interim.size(); ++i)
        note_status(turn, done.interim[i].base, done.interim[i].version, std::move(interim[i]));
    if (done.job_removed) {
        removed_.insert(turn.key);
        if (options_.observer != nullptr)
            options_.observer->on_job_removed(*job.kind, job.namespace_);
    }
}

void JobReconciler::note_status(const Turn& turn, std::string base, std::string version,
                                NewStatus status) {
    const JobRecord& job = *turn.job;
    const JobPtr shown = caches_.current(job);
    pending_.add(turn.key, job.resource_version, std::move(base), std::move(version),
                 std::move(status.status),
                 shown != nullptr ? shown->resource_version : std::string());
    tell_observer(turn.key, job, status.reached);
}

void JobReconciler::tell_observer(const std::string& key, const JobRecord& job,
                                  const std::vector<Reached>& reached) {
    for (const Reached& one : reached) {
        JobNews news{.kind = *job.kind,
                     .namespace_ = job.namespace_,
                     .name = job.name,
                     .milestone = one.milestone,
                     .times = one.times,
                     .cause = one.cause};
        if (one.milestone == Milestone::kRunning)
            if (auto seen = seen_new_.extract(key); !seen.empty())
                news.since_seen = clock_.now() - seen.mapped();
        options_.observer->on_job(news);
    }
}

// --- changes of the caches

void JobReconciler::job_changed(const std::string& key, const JobPtr* before, const JobPtr* after) {
    if (before != nullptr && (after == nullptr || (*after)->uid != (*before)->uid)) forget(key);
    const bool is_new = before == nullptr && (*after)->status.empty();
    if (options_.observer != nullptr && is_new && caches_.filled())
        seen_new_.emplace(key, clock_.now());
    if (after != nullptr) pending_.shown(key, (*after)->resource_version);
    // Pods of new jobs come before changes of old ones.
    if (is_new)
        controller_.add_first(key);
    else
        controller_.add(key);
}

void JobReconciler::forget(const std::string& key) {
    warned_edits_.erase(key);
    coalescer_.forget(key);
    pending_.forget(key);
    removed_.erase(key);
    seen_new_.erase(key);
    controller_.set_deadline(key, std::nullopt);
}

void JobReconciler::pod_changed(const PodPtr* before, const PodRecord& pod) {
    std::vector<JobEvent> news = pod_news(before == nullptr ? nullptr : before->get(), pod);
    if (news.empty()) return;
    const JobPtr job = caches_.owner_of(pod);
    if (job == nullptr) return;
    for (JobEvent& event : news)
        recorders_.at(job->kind)->record(reference_to(*job), event.type, std::move(event.reason),
                                         std::move(event.message));
}

}  // namespace muster::operators
