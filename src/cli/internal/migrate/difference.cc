#include "cli/internal/migrate/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/time/bounded_seconds.h"
#include "jobs/mpi_annotations.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

using When = Difference::When;

std::string ago(WallTime then, WallTime now) {
    return fmt::format("{} s ago",
                       std::chrono::duration_cast<std::chrono::seconds>(now - then).count());
}

void judge_deadline(const jobs::Job& job, WallTime now, std::vector<Difference>& found) {
    const auto& limit = job.run_policy.active_deadline_seconds;
    const auto started = kube::parse_time(job.status.start_time);
    if (!limit || !started || job.status.finished()) return;
    const WallTime end = *started + bounded_seconds(*limit);
    if (end <= now)
        found.push_back(
            {When::kNow, "spec.runPolicy.activeDeadlineSeconds",
             fmt::format(
                 "its {} s ended {}, and it fails at once: upstream looks at a deadline only when "
                 "something else happens; raise it first if the job is to continue",
                 *limit, ago(end, now))});
    else
        found.push_back({When::kThen, "spec.runPolicy.activeDeadlineSeconds",
                         fmt::format("fires at its time, {}", kube::format_time(end))});
}

void judge_ttl(const jobs::Job& job, WallTime now, std::vector<Difference>& found) {
    const auto& limit = job.run_policy.ttl_seconds_after_finished;
    if (!limit || !job.status.finished()) return;
    const auto completed = kube::parse_time(job.status.completion_time);
    if (!completed) {
        found.push_back({When::kNow, "spec.runPolicy.ttlSecondsAfterFinished",
                         "it is finished and has no completionTime, so upstream never deletes it; "
                         "it gets one now, and is deleted when that has passed"});
        return;
    }
    const WallTime end = *completed + bounded_seconds(*limit);
    if (end <= now)
        found.push_back({When::kNow, "spec.runPolicy.ttlSecondsAfterFinished",
                         fmt::format("ended {}: the job is deleted at once", ago(end, now))});
}

void judge_restarts(const jobs::Job& job, std::vector<Difference>& found) {
    if (job.status.finished()) return;
    if (job.run_policy.backoff_limit)
        found.push_back({When::kThen, "spec.runPolicy.backoffLimit",
                         fmt::format("counts every restart from now on, including replaced pods: "
                                     "after {} the job fails",
                                     *job.run_policy.backoff_limit)});
    std::string together;
    for (const jobs::ReplicaType& type : job.kind->replica_types)
        if (job.replica(type.name) != nullptr && job.restarts_all(type))
            together += (together.empty() ? "" : ", ") + type.name;
    if (!together.empty())
        found.push_back(
            {When::kThen, "",
             fmt::format("when a replica of {} fails, all of its pods restart together; "
                         "the annotation {}: {} has the one alone",
                         together, jobs::annotations::kRestart,
                         jobs::annotations::kRestartReplica)});
}

/// The pods of a running job were made for a launcher that calls kubectl, or ssh.
void judge_remote_shell(const jobs::Job& job, std::vector<Difference>& found) {
    const std::string& version = job.kind->resource.version;
    const bool by_kubectl = version == "v1";
    if (job.kind->resource.kind != "MPIJob" || (!by_kubectl && version != "v2beta1")) return;
    if (job.status.start_time.empty() || job.status.finished()) return;
    const auto& marks = job.metadata.annotations;
    const jobs::ReplicaSpec* worker = job.replica("Worker");
    const bool open =
        worker != nullptr &&
        std::ranges::all_of(worker->template_.spec.containers, [](const kube::Container& one) {
            return one.command.empty() && one.args.empty();
        });
    if (open && !marks.contains(std::string(jobs::kShellAnnotation)))
        found.push_back(
            {When::kNow, fmt::format("metadata.annotations[{}]", jobs::kShellAnnotation),
             fmt::format("its workers have no command, so they would be called by muster rsh, for "
                         "which its pods are not made: first 'kubectl annotate mpijob -n {} {} "
                         "{}={}'",
                         job.metadata.namespace_, job.metadata.name, jobs::kShellAnnotation,
                         by_kubectl ? jobs::kShellKubectl : jobs::kShellSsh)});
    else if (by_kubectl && !marks.contains(std::string(jobs::kDeliveryAnnotation)))
        found.push_back({When::kThen,
                         fmt::format("metadata.annotations[{}]", jobs::kDeliveryAnnotation),
                         "a recreated launcher gets kubectl from its own image, or from "
                         "the one that this annotation names"});
}

void judge_outcome(const jobs::Job& job, std::vector<Difference>& found) {
    if (job.status.is("Succeeded") && job.status.is("Failed"))
        found.push_back({When::kThen, "status.conditions",
                         "says both Succeeded and Failed, as upstream may; it stays as it is"});
}

}  // namespace

std::vector<Difference> differences_of(const jobs::JobKind& kind, const json::value& object,
                                       bool batch_launcher, WallTime now) {
    std::vector<Difference> found;
    const jobs::Review review = jobs::review(kind, object);
    const jobs::Job& job = review.job;
    if (!jobs::is_ours(kind, job.run_policy.managed_by)) return found;
    const bool finished = job.status.finished();
    if (batch_launcher && !finished)
        found.push_back({When::kThen, "",
                         "its launcher's pod continues as the MPIJob's own, and the Job that "
                         "mpi-operator made for it is deleted"});
    if (!finished)
        for (const Cause& problem : review.problems)
            found.push_back({When::kNow, problem.field,
                             fmt::format("{}; the job is not worked on until that is corrected",
                                         problem.message)});
    if (!review.problems.empty()) return found;
    judge_deadline(job, now, found);
    judge_ttl(job, now, found);
    judge_restarts(job, found);
    judge_remote_shell(job, found);
    judge_outcome(job, found);
    std::vector<Difference> sorted;
    for (const When when : {When::kNow, When::kThen})
        std::ranges::copy_if(found, std::back_inserter(sorted),
                             [when](const Difference& one) { return one.when == when; });
    return sorted;
}

}  // namespace muster::cli
