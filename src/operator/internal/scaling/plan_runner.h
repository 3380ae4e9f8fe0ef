#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/client/controller.h"
#include "operator/internal/cache/job_caches.h"
#include "operator/internal/scaling/plan_cache.h"
#include "operator/internal/scaling/plan_queue.h"

namespace muster::operators {

/// The shell around queue_of(): reads the ScalePlans of the jobs of one kind, says which is to be
/// executed, and writes what has become of each. What is in its memory only saves requests, but for
/// one thing: that a plan which it has refused is not executed before its status shows it.
///
/// Also makes the plan of a job whose master has one (JobFacts::has_own_plan), empty, and again if it
/// goes. That is not among the job's owned objects, without which no pod is made: a cluster may lack
/// the definition, and a job needs no plan.
///
/// Executing a plan is a change of the job's status, so the planner does it. Refers to all its
/// arguments. Thread: one loop.
class PlanRunner {
  public:
    PlanRunner(JobCaches& caches, kube::Client& client, kube::Controller& controller, Clock& clock,
               Rng& rng, const jobs::JobKind& kind, std::string namespace_);

    void start(TaskGroup& tasks) { plans_.start(tasks); }

    /// Whether the job with this key has plans, or is to have one. `job`: null if there is none.
    bool concerns(const std::string& key, const JobPtr& job) const;

    /// The plan to execute now, if there is one. `status`: the job's newest. An error has to be tried
    /// again.
    Task<Result<std::optional<ScaleOrder>>> next_order(std::string key, JobPtr job,
                                                       jobs::JobStatus status);

    /// Writes what is new about the plans of a job, deletes those that are too many, and, if `may_make`,
    /// makes the one of its master. A null `job`: there is none. False: something failed and has to be
    /// tried again.
    Task<bool> report(std::string key, JobPtr job, jobs::JobStatus status, bool may_make);

  private:
    PlanQueue queue(const std::string& key, const JobPtr& job, const jobs::JobStatus& status);
    Task<Result<std::string>> problem_of(JobPtr job, jobs::ExecutedPlan executed,
                                         std::map<std::string, jobs::ReplicaMembers> members);
    Task<bool> write(PlanNews news);
    Task<bool> remove(PlanPtr plan);
    bool lacks_own_plan(const std::string& key, const JobPtr& job, const jobs::JobStatus& status);
    Task<bool> make_own_plan(JobPtr job);
    void plans_listed();
    void plan_changed(const PlanPtr* before, const PlanPtr* after);

    JobCaches& caches_;
    kube::Client& client_;
    kube::Controller& controller_;
    Clock& clock_;
    Refusals refusals_;
    /// The revision over which a status of ours was written, by uid, until the watch shows another.
    std::unordered_map<std::string, std::string> written_over_;
    /// When the plan of a job's master was made last, by the job's key.
    std::unordered_map<std::string, Instant> made_;
    /// Jobs whose plan may be there already: it is not known yet.
    std::set<std::string> await_list_;
    PlanCache plans_;
};

}  // namespace muster::operators
