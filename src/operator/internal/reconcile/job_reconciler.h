#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/event_recorder.h"
#include "operator/internal/cache/job_caches.h"
#include "operator/internal/execution/executor.h"
#include "operator/internal/planning/plan.h"
#include "operator/internal/reconcile/controller.h"
#include "operator/internal/reconcile/pending_status_writes.h"
#include "operator/internal/reconcile/status_coalescer.h"
#include "operator/observer/milestones.h"

namespace muster::operators {

/// Brings one job at a time to what its manifest says: a plan from what the caches show, and its
/// execution. What it remembers of a job only saves requests and events. Keys are those of the
/// queue. Refers to all that it is made with. Thread: one loop.
class JobReconciler {
  public:
    struct Options {
        /// How long numbers of replicas may be late.
        Duration counts_wait{};
        /// Ends the process when what was summed up event by event is not what the caches give.
        bool check_consistency = false;
        OperatorObserver* observer = nullptr;  ///< null: nobody listens
    };

    JobReconciler(JobCaches& caches, Executor& executor, Controller& controller, Clock& clock,
                  Options options,
                  std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders);

    /// False: something failed and wants another try.
    Task<bool> reconcile(std::string key);

    /// As JobCaches tells it. Queues the job, and forgets one that is gone.
    void job_changed(const std::string& key, const JobPtr* before, const JobPtr* after);
    /// Tells the people who watch the job what became of its pod.
    void pod_changed(const PodPtr* before, const PodRecord& pod);

  private:
    /// One reconciliation: what is to be done about a job.
    struct Turn {
        std::string key;
        JobPtr job;
        std::string version;  ///< the revision that the plan's status builds upon
        Plan plan;
        bool status_later = false;  ///< the job's first status was taken out of the plan
    };
    /// What of a status is still needed when it is written.
    struct NewStatus {
        PackedStatus status;
        std::vector<Reached> reached;
    };

    Task<bool> carry_out(Turn turn);
    Plan make_plan(const std::string& key, const JobRecord& job, std::string& version);
    Plan plan_and_check(const std::string& key, const JobRecord& job,
                        const jobs::JobStatus& status);
    bool should_end(const std::string& key, const JobRecord& job, const jobs::JobStatus& told,
                    Instant& look_at);
    jobs::JobStatus known_status(const std::string& key, const JobRecord& job) const;
    NewStatus new_status(const Turn& turn) const;
    void note_execution(const Turn& turn, const Execution& done, NewStatus status);
    void tell_observer(const std::string& key, const JobRecord& job,
                       const std::vector<Reached>& reached);
    void forget(const std::string& key);

    JobCaches& caches_;
    Executor& executor_;
    Controller& controller_;
    Clock& clock_;
    Options options_;
    std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders_;
    PendingStatusWrites pending_;
    StatusCoalescer coalescer_;
    /// The generation of a job whose edit can't be run and was told.
    std::unordered_map<std::string, std::int64_t> warned_edits_;
    /// Deleted at the end of their TTL; until the watch shows it.
    std::unordered_set<std::string> removed_;
    /// Jobs that came while we watched and have not run yet, for the observer.
    std::unordered_map<std::string, Instant> seen_new_;
};

}  // namespace muster::operators
