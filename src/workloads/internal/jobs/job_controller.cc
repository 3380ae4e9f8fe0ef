#include "workloads/internal/jobs/job_controller.h"

#include <fmt/format.h>

#include <utility>

#include "kube/values/text_size.h"
#include "workloads/internal/jobs/job_pods.h"
#include "workloads/internal/pods/gathered_changes.h"
#include "workloads/internal/pods/status_write.h"

namespace muster::workloads {

namespace {

constexpr int kJobsAtATime = 4;

}  // namespace

JobController::JobController(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                             JobTable& jobs, PodTable& pods, SideThread* side_thread)
    : client_(client),
      clock_(clock),
      side_thread_(side_thread),
      pods_(pods),
      events_(client, clock, rng, tasks, "job-controller"),
      writer_(client, pods, events_),
      controller_(clock, tasks, [this](std::string key) { return reconcile(std::move(key)); }) {
    jobs.on_change([this](const std::string& key, const JobRecord*, const JobRecord*) {
        controller_.add(key);
    });
    pods.on_touched("Job", [this](const PodFacts& pod, std::size_t siblings) {
        add_gathered(controller_, clock_,
                     kube::NamespacedName{pod.name.namespace_, pod.owner_name}.text(), siblings);
    });
}

void JobController::start() { controller_.start(kJobsAtATime); }

Task<bool> JobController::reconcile(std::string key) {
    co_await pods_.ready();
    const kube::NamespacedName name = name_of_key(key);
    auto got = co_await client_.get(kube::types::kBatchJobs, name.namespace_, name.name);
    if (!got && got.error().code() != Code::kNotFound) co_return false;
    PodTable::Seen seen = pods_.of("Job", name);
    std::vector<PodPtr> own;
    std::vector<PodPtr> left;  // of a Job that is gone
    for (PodPtr& pod : seen.pods)
        (got && pod->owner_uid == kube::uid_of((*got)->get_object()) ? own : left)
            .push_back(std::move(pod));
    const bool released = co_await release(std::move(left));
    if (!got) {
        controller_.set_deadline(key, std::nullopt);
        co_return released;
    }
    if (!seen.complete) controller_.requeue_at(key, clock_.now() + PodTable::kLongestLag);
    JobPlan plan = plan_job((*got)->get_object(), own, clock_.wall_now());
    controller_.set_deadline(key, plan.again);
    const bool done = co_await carry_out(*std::move(got), std::move(plan));
    co_return released&& done;
}

/// Pods whose ends are counted, or count for nothing.
Task<bool> JobController::release(std::vector<PodPtr> pods) {
    bool complete = true;
    for (PodPtr& pod : pods) {
        if (!pod->tracked) continue;
        const Result<void> done = co_await writer_.untrack(std::move(pod));
        complete &= done.has_value();
    }
    co_return complete;
}

Task<bool> JobController::carry_out(kube::ObjectPtr job, JobPlan plan) {
    if (plan.delete_job) {
        const bool released = co_await release(std::move(plan.untrack));
        const bool deleted = co_await delete_job(std::move(job));
        co_return released&& deleted;
    }
    const Owner owner = owner_of(kube::types::kBatchJobs, job->get_object());
    bool complete = co_await remove_pods(owner, plan);
    std::int64_t made = 0;
    complete &= co_await make_pods(job, plan, made);
    if (made > 0) plan.status["active"] = plan.active + made;
    // Nothing that depends on what the status says may happen before it says so.
    const bool written =
        co_await write_status(client_, kube::types::kBatchJobs, job, std::move(plan.status));
    if (!written) co_return false;
    for (JobEvent& event : plan.events)
        events_.record(owner.reference(),
                       event.warning ? kube::EventType::kWarning : kube::EventType::kNormal,
                       std::move(event.reason), std::move(event.message));
    const bool released = co_await release(std::move(plan.untrack));
    co_return complete&& released;
}

Task<bool> JobController::remove_pods(Owner owner, JobPlan& plan) {
    bool complete = true;
    for (PodPtr& pod : plan.remove) {
        if (plan.uncounted_removal && pod->tracked) {
            const Result<void> untracked = co_await writer_.untrack(pod);
            complete &= untracked.has_value();
            if (!untracked) continue;
        }
        const Result<void> removed = co_await writer_.remove(owner, std::move(pod));
        complete &= removed.has_value();
    }
    co_return complete;
}

/// Ends with the first pod that can't be made: the next ones would be refused, too.
Task<bool> JobController::make_pods(kube::ObjectPtr job, const JobPlan& plan, std::int64_t& made) {
    const Owner owner = owner_of(kube::types::kBatchJobs, job->get_object());
    const std::size_t bytes = plan.make > 0 ? kube::text_size(*job, kWorthSideThread) : 0;
    for (; made < plan.make; ++made) {
        const auto at = static_cast<std::size_t>(made);
        std::optional<std::int64_t> index;
        if (!plan.indexes.empty()) index = plan.indexes[at];
        std::optional<IndexFailures> failures;
        if (!plan.failures.empty()) failures = plan.failures[at];
        json::object pod = co_await compute_beside(
            side_thread_, "make a pod", bytes,
            [job, index, failures] { return job_pod(job->get_object(), index, failures); });
        const Result<void> done = co_await writer_.make(owner, std::move(pod));
        if (!done) co_return false;
    }
    co_return true;
}

Task<bool> JobController::delete_job(kube::ObjectPtr deleted) {
    const json::object& job = deleted->get_object();
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kForeground;
    options.precondition_uid = kube::uid_of(job);
    options.precondition_resource_version =
        kube::string_at(kube::metadata_of(job), "resourceVersion");
    const auto removed =
        co_await client_.remove(kube::types::kBatchJobs, std::string(kube::namespace_of(job)),
                                std::string(kube::name_of(job)), std::move(options));
    co_return removed || removed.error().code() == Code::kNotFound;
}

}  // namespace muster::workloads
