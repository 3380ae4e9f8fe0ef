#include "operator/internal/planning/job_outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/objects/selector.h"
#include "kube/values/time.h"
#include "operator/internal/planning/conditions.h"
#include "operator/internal/planning/limits.h"
#include "operator/internal/planning/waiting.h"

namespace muster::operators {
namespace {

jobs::ReplicaStatus replica_status(const JobRecord& job, const ReplicaTypeState& state) {
    jobs::ReplicaStatus status;
    const jobs::ReplicaCounts& counts = state.counts;
    if (counts.active > 0) status.active = counts.active;
    if (counts.succeeded > 0) status.succeeded = counts.succeeded;
    if (counts.failed > 0) status.failed = counts.failed;
    if (state.restarts > 0) status.restarts = state.restarts;
    if (counts.succeeded > 0 && counts.succeeded < counts.wanted)
        status.completed_indexes = state.done.to_string();
    if (job.kind->status_selector) {
        std::map<std::string, std::string> labels = jobs::job_labels(*job.kind, job.name);
        labels[std::string(jobs::labels::kReplicaType)] =
            job.kind->replica_types[state.facts.type].lower();
        status.selector = kube::LabelSelector::from_map(labels).to_string();
    }
    return status;
}

/// Counts no pod as active that goes because of the end: a finished job is never written again,
/// whoever looks at it.
JobOutcome end(Draft& draft) {
    remove_condition(draft.status, conditions::kPending);
    remove_condition(draft.status, conditions::kIncomplete);
    draft.status.completion_time = kube::format_time(whole_second_from(draft.now));
    const bool stops = stops_what_runs(*draft.job.facts, draft.status, draft.job.name);
    for (auto& [type, counts] : draft.status.replica_statuses) {
        counts.completed_indexes.clear();
        if (stops) counts.active.reset();
    }
    return JobOutcome::kFinished;
}

JobOutcome succeed(Draft& draft, std::string message) {
    draft.set(conditions::kSucceeded, true, "Succeeded", message);
    draft.tell(kube::EventType::kNormal, "Succeeded", std::move(message));
    for (auto& [type, counts] : draft.status.replica_statuses) {
        const std::int32_t all = counts.succeeded.value_or(0) + counts.active.value_or(0);
        if (all > 0) counts.succeeded = all;
        counts.active.reset();
    }
    return end(draft);
}

std::string said_of(const ReplicaTypeState& state, const std::string& words, const Draft& draft) {
    const JobRecord& job = draft.job;
    return jobs::failure_message(words, *job.kind, job.namespace_, job.name, state.name,
                                 state.counts.failed);
}

JobOutcome fail(Draft& draft, const ReplicaTypeState& state) {
    const bool never = state.facts.policy == RestartPolicy::kNever;
    std::string message =
        never ? said_of(state, draft.job.kind->words.failed, draft)
              : fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                            draft.job.name, state.name);
    draft.set(conditions::kFailed, true, "Failed", message);
    draft.tell(never ? kube::EventType::kNormal : kube::EventType::kWarning, "Failed",
               std::move(message));
    return end(draft);
}

/// The restarts that brought the job to its limit are not made. What was told before stands: the
/// count never falls.
void leave_out_due_restarts(std::span<const ReplicaTypeState> states, const jobs::JobStatus& before,
                            Draft& draft) {
    for (const ReplicaTypeState& state : states) {
        const auto told = before.replica_statuses.find(state.name);
        const std::int32_t least =
            told == before.replica_statuses.end() ? 0 : told->second.restarts.value_or(0);
        const std::int32_t made = std::max(state.restarts - state.totals.due, least);
        draft.status.replica_statuses[state.name].restarts =
            made > 0 ? std::optional(made) : std::nullopt;
    }
}

JobOutcome fail_by_limit(Draft& draft, std::string message) {
    draft.set(conditions::kFailed, true, "Failed", message);
    draft.tell(kube::EventType::kNormal, "Failed", std::move(message));
    return end(draft);
}

JobOutcome fail_by_wait(Draft& draft, const PendingDecision& pending) {
    std::string message = pending.condition({});
    draft.set(conditions::kFailed, true, pending.end, message);
    draft.tell(kube::EventType::kWarning, pending.end, std::move(message));
    return end(draft);
}

void restart(Draft& draft, const ReplicaTypeState& state) {
    const Pause& pause = state.longest_pause;
    std::string message = state.totals.replacing > 0 || pause.end
                              ? fmt::format("job {} is restarting because {} replica(s) failed.",
                                            draft.job.name, state.name)
                              : said_of(state, draft.job.kind->words.restarting, draft);
    if (pause.end)
        message += fmt::format(
            " {} starts again after a pause of {} s (restart {} in a row).",
            jobs::replica_name(*draft.job.kind, draft.job.name, {state.name, state.pauses}),
            pause.length.count(), pause.in_a_row);
    const bool lacked_memory = !state.told_of_memory.empty();
    std::string told = lacked_memory ? message + " " + state.told_of_memory : message;
    const bool changed = draft.set(conditions::kRestarting, true, "Restarting", told);
    if (!changed && lacked_memory)
        change_message(draft.status, conditions::kRestarting, std::move(told), draft.now);
    if (changed || state.newly)
        draft.tell(kube::EventType::kWarning, "Restarting", std::move(message));
}

void tell_of_memory(Draft& draft, const ReplicaTypeState& state) {
    if (!state.told_of_memory.empty())
        draft.tell(kube::EventType::kWarning, "OutOfMemory", state.told_of_memory);
}

JobOutcome restart_group(Draft& draft, const ReplicaTypeState& state,
                         std::span<const ReplicaTypeState> all) {
    jobs::JobStatus& status = draft.status;
    const std::int32_t generation = status.restart_generation.value_or(0) + 1;
    status.restart_generation = generation;
    status.restarts_in_a_row = restarts_in_a_row(status, draft.now);
    status.last_restart_time = kube::format_time(whole_second_from(draft.now));
    for (auto& [type, counts] : status.replica_statuses) counts.completed_indexes.clear();
    const std::chrono::seconds pause = pause_before_restart(*status.restarts_in_a_row);
    std::string message = fmt::format(
        "job {} is restarting because {} replica(s) failed. All of its pods restart "
        "together (restart {}{}).",
        draft.job.name, state.name, generation,
        pause.count() == 0 ? "" : fmt::format(", after a pause of {} s", pause.count()));
    std::string told = message;
    for (const ReplicaTypeState& one : all)
        if (!one.told_of_memory.empty()) told += " " + one.told_of_memory;
    draft.set(conditions::kRestarting, true, "Restarting", std::move(told));
    draft.tell(kube::EventType::kWarning, "Restarting", std::move(message));
    for (const ReplicaTypeState& one : all) tell_of_memory(draft, one);
    return JobOutcome::kNewGeneration;
}

/// Adds the counts of a type that decides.
void add_deciding(const ReplicaTypeState& state, const jobs::SuccessPolicy& success_policy,
                  jobs::ReplicaCounts& deciding) {
    if (!success_policy.counts(state.facts.type)) return;
    deciding.wanted += state.counts.wanted;
    deciding.active += state.counts.active;
    deciding.succeeded += state.counts.succeeded;
    deciding.failed += state.counts.failed;
    if (state.facts.type == success_policy.type)
        deciding.first_succeeded = state.counts.first_succeeded;
}

/// For kinds that say so: a job is pending from its begin until a deciding replica runs.
void tell_pending(Draft& draft, bool undecided) {
    const bool has_run =
        draft.status.is(conditions::kRunning) || draft.status.is(conditions::kRestarting);
    if (!draft.job.kind->tells_pending || !undecided || has_run || draft.status.start_time.empty())
        return remove_condition(draft.status, conditions::kPending);
    draft.set(conditions::kPending, true, "Pending",
              fmt::format("{} {} is pending.", draft.kind(), draft.job.name));
}

/// Whether the final failure of replicas of this type ends the job. If failures are forgiven, only
/// once no replica is left that could succeed.
bool is_final(const ReplicaTypeState& state, const jobs::SuccessPolicy& success_policy) {
    if (state.totals.lost == 0) return false;
    if (!success_policy.forgives(state.facts.type)) return true;
    return state.facts.type == success_policy.type &&
           state.counts.succeeded + state.totals.lost >= state.counts.wanted;
}

/// A replica whose program is ours is the job's master: that it succeeded says that the job has. Who of
/// the others runs was told so and is about to end. Who does not run and has not ended well was not
/// reached, and the pod after it would look for a master that is gone.
bool is_over_by_master(std::span<const ReplicaTypeState> states, const jobs::JobKind& kind,
                       const jobs::ReplicaCounts& deciding) {
    if (deciding.succeeded + deciding.active >= deciding.wanted) return false;
    return std::ranges::any_of(states, [&](const ReplicaTypeState& state) {
        return kind.replica_types[state.facts.type].own_program && state.counts.wanted > 0 &&
               state.counts.succeeded >= state.counts.wanted;
    });
}

}  // namespace

/// The deciding replicas come first: when they are done, nothing else matters any more. A final
/// failure outranks a limit, a limit a restart, and a restart outranks that the job is running.
JobOutcome evaluate(std::span<const ReplicaTypeState> states, const jobs::JobStatus& before,
                    const PendingDecision& pending, Draft& draft,
                    std::optional<WallTime>& requeue_at) {
    const JobRecord& job = draft.job;
    const JobFacts& facts = *job.facts;
    draft.status.replica_statuses.clear();
    jobs::ReplicaCounts deciding;
    std::int32_t restarts = before.restart_generation.value_or(0);
    const ReplicaTypeState* lapsed = nullptr;
    for (const ReplicaTypeState& state : states) {
        draft.status.replica_statuses[state.name] = replica_status(job, state);
        add_deciding(state, facts.success_policy, deciding);
        restarts += state.restarts;
        if (lapsed == nullptr && state.totals.lapsed > 0) lapsed = &state;
    }
    if (lapsed != nullptr) ++restarts;
    if (is_over_by_master(states, *job.kind, deciding)) {
        deciding.succeeded = deciding.wanted;
        deciding.first_succeeded = true;
    }

    jobs::Verdict verdict =
        jobs::judge(*job.kind, facts.success_policy, job.namespace_, job.name, deciding);
    if (verdict.outcome == jobs::Outcome::kSucceeded) {
        if (!verdict.running_message.empty())
            draft.set(conditions::kRunning, true, "Running", verdict.running_message);
        return succeed(draft, verdict.message);
    }
    for (const ReplicaTypeState& state : states)
        if (is_final(state, facts.success_policy)) return fail(draft, state);
    if (const std::optional<WallTime> deadline = deadline_of(facts, draft.status)) {
        if (draft.now >= *deadline || facts.deadline_seconds == 0)
            return fail_by_limit(draft, deadline_message(job.name));
        requeue_at = deadline;
    }
    if (past_backoff_limit(facts.backoff_limit, restarts)) {
        leave_out_due_restarts(states, before, draft);
        return fail_by_limit(draft, backoff_message(job.name));
    }
    if (!pending.end.empty()) return fail_by_wait(draft, pending);
    if (lapsed != nullptr) return restart_group(draft, *lapsed, states);
    bool restarting = false;
    for (const ReplicaTypeState& state : states) {
        tell_of_memory(draft, state);
        if (state.counts.failed == state.totals.lost && !state.longest_pause.end) continue;
        restarting = true;
        restart(draft, state);
    }
    if (!restarting && verdict.outcome == jobs::Outcome::kRunning)
        draft.set(conditions::kRunning, true, "Running", std::move(verdict.message));
    tell_pending(draft, verdict.outcome == jobs::Outcome::kPending);
    tell_waiting(draft, pending);
    return JobOutcome::kContinues;
}

}  // namespace muster::operators
