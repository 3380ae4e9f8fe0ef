#include "operator/internal/planning/job_outcome.h"

#include <fmt/format.h>

#include "kube/objects/selector.h"
#include "kube/values/time.h"
#include "operator/internal/planning/conditions.h"
#include "operator/internal/planning/limits.h"

namespace muster::operators {
namespace {

jobs::ReplicaStatus replica_status(const JobRecord& job, const TypeFindings& found) {
    jobs::ReplicaStatus status;
    const jobs::ReplicaCounts& counts = found.counts;
    if (counts.active > 0) status.active = counts.active;
    if (counts.succeeded > 0) status.succeeded = counts.succeeded;
    if (counts.failed > 0) status.failed = counts.failed;
    if (found.restarts > 0) status.restarts = found.restarts;
    if (counts.succeeded > 0 && counts.succeeded < counts.wanted)
        status.completed_indexes = found.done.to_string();
    if (job.kind->status_selector) {
        std::map<std::string, std::string> labels = jobs::job_labels(*job.kind, job.name);
        labels[std::string(jobs::labels::kReplicaType)] =
            job.kind->replica_types[found.type.type].lower();
        status.selector = kube::LabelSelector::from_map(labels).to_string();
    }
    return status;
}

Ruling end(Draft& draft) {
    draft.status.completion_time = kube::format_time(draft.now);
    for (auto& [type, counts] : draft.status.replica_statuses) counts.completed_indexes.clear();
    return Ruling::kOver;
}

Ruling succeed(Draft& draft, std::string message) {
    draft.set(conditions::kSucceeded, true, "Succeeded", message);
    draft.tell(kube::EventType::kNormal, "Succeeded", std::move(message));
    for (auto& [type, counts] : draft.status.replica_statuses) {
        const std::int32_t all = counts.succeeded.value_or(0) + counts.active.value_or(0);
        if (all > 0) counts.succeeded = all;
        counts.active.reset();
    }
    return end(draft);
}

std::string said_of(const TypeFindings& found, const std::string& words, const Draft& draft) {
    const JobRecord& job = draft.job;
    return jobs::failure_message(words, *job.kind, job.namespace_, job.name, found.name,
                                 found.counts.failed);
}

Ruling fail(Draft& draft, const TypeFindings& found) {
    const bool never = found.type.policy == RestartPolicy::kNever;
    std::string message =
        never ? said_of(found, draft.job.kind->words.failed, draft)
              : fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                            draft.job.name, found.name);
    draft.set(conditions::kFailed, true, "Failed", message);
    draft.tell(never ? kube::EventType::kNormal : kube::EventType::kWarning, "Failed",
               std::move(message));
    return end(draft);
}

Ruling fail_by_limit(Draft& draft, std::string message) {
    draft.set(conditions::kFailed, true, "Failed", message);
    draft.tell(kube::EventType::kNormal, "Failed", std::move(message));
    return end(draft);
}

void restart(Draft& draft, const TypeFindings& found) {
    std::string message = found.tally.replacing > 0
                              ? fmt::format("job {} is restarting because {} replica(s) failed.",
                                            draft.job.name, found.name)
                              : said_of(found, draft.job.kind->words.restarting, draft);
    const bool changed = draft.set(conditions::kRestarting, true, "Restarting", message);
    if (changed || found.newly)
        draft.tell(kube::EventType::kWarning, "Restarting", std::move(message));
}

Ruling restart_group(Draft& draft, const TypeFindings& found) {
    jobs::JobStatus& status = draft.status;
    const std::int32_t generation = status.restart_generation.value_or(0) + 1;
    status.restart_generation = generation;
    status.restarts_in_a_row = restarts_in_a_row(status, draft.now);
    status.last_restart_time = kube::format_time(draft.now);
    for (auto& [type, counts] : status.replica_statuses) counts.completed_indexes.clear();
    const std::chrono::seconds pause = pause_before_restart(*status.restarts_in_a_row);
    std::string message = fmt::format(
        "job {} is restarting because {} replica(s) failed. All of its pods restart together, for "
        "the {}. time{}.",
        draft.job.name, found.name, generation,
        pause.count() == 0 ? "" : fmt::format(", after a pause of {} s", pause.count()));
    draft.set(conditions::kRestarting, true, "Restarting", message);
    draft.tell(kube::EventType::kWarning, "Restarting", std::move(message));
    return Ruling::kNewGeneration;
}

/// Whether replicas of this type that failed for good are the end of the job. Where they are
/// forgiven, only once there is nobody left who could succeed.
bool is_final(const TypeFindings& found, const jobs::SuccessPolicy& success_policy) {
    if (found.tally.lost == 0) return false;
    if (!success_policy.forgives(found.type.type)) return true;
    return found.type.type == success_policy.type &&
           found.counts.succeeded + found.tally.lost >= found.counts.wanted;
}

}  // namespace

/// The replicas that decide come first: when they are done, nothing else matters any more. A final
/// failure outranks a limit, a limit a restart, and a restart that the job runs.
Ruling judge(std::span<const TypeFindings> findings, const jobs::JobStatus& before, Draft& draft,
             std::optional<WallTime>& look_again) {
    const JobRecord& job = draft.job;
    const JobFacts& facts = *job.facts;
    draft.status.replica_statuses.clear();
    jobs::ReplicaCounts deciding;
    std::int32_t restarts = before.restart_generation.value_or(0);
    const TypeFindings* lapsed = nullptr;
    for (const TypeFindings& found : findings) {
        draft.status.replica_statuses[found.name] = replica_status(job, found);
        if (found.type.type == facts.success_policy.type) deciding = found.counts;
        restarts += found.restarts;
        if (lapsed == nullptr && found.tally.lapsed > 0) lapsed = &found;
    }
    if (lapsed != nullptr) ++restarts;

    jobs::Verdict verdict =
        jobs::judge(*job.kind, facts.success_policy, job.namespace_, job.name, deciding);
    if (verdict.outcome == jobs::Outcome::kSucceeded) {
        if (!verdict.running_message.empty())
            draft.set(conditions::kRunning, true, "Running", verdict.running_message);
        return succeed(draft, verdict.message);
    }
    for (const TypeFindings& found : findings)
        if (is_final(found, facts.success_policy)) return fail(draft, found);
    if (const std::optional<WallTime> deadline = deadline_of(facts, draft.status)) {
        if (draft.now >= *deadline) return fail_by_limit(draft, deadline_message(job.name));
        look_again = deadline;
    }
    if (past_backoff_limit(facts.backoff_limit, restarts))
        return fail_by_limit(draft, backoff_message(job.name));
    if (lapsed != nullptr) return restart_group(draft, *lapsed);
    bool restarting = false;
    for (const TypeFindings& found : findings) {
        if (found.counts.failed == found.tally.lost) continue;
        restarting = true;
        restart(draft, found);
    }
    if (!restarting && verdict.outcome == jobs::Outcome::kRunning)
        draft.set(conditions::kRunning, true, "Running", std::move(verdict.message));
    return Ruling::kGoesOn;
}

}  // namespace muster::operators
