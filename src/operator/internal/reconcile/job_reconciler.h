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
#include "kube/client/controller.h"
#include "kube/client/event_recorder.h"
#include "operator/internal/cache/job_caches.h"
#include "operator/internal/execution/executor.h"
#include "operator/internal/planning/plan.h"
#include "operator/internal/reconcile/pending_status_writes.h"
#include "operator/internal/reconcile/status_coalescer.h"
#include "operator/internal/scaling/plan_runner.h"
#include "operator/observer/milestones.h"

namespace muster::operators {

/// Reconciles one job at a time with its manifest: makes a plan from the caches, and executes it.
/// Everything that it remembers of a job only saves requests and events. Keys are those of the
/// queue. Refers to all its arguments. Thread: one loop.
class JobReconciler {
  public:
    struct Options {
        /// How long replica counts in the status may be late.
        Duration counts_wait{};
        /// Ends the process if the incremental totals differ from what the caches give.
        bool check_consistency = false;
        OperatorObserver* observer = nullptr;  ///< may be null
        PlanRunner* scale_plans = nullptr;     ///< null: no kind has ScalePlans
    };

    JobReconciler(JobCaches& caches, Executor& executor, kube::Controller& controller, Clock& clock,
                  Options options,
                  std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders);

    /// False: something failed and has to be tried again.
    Task<bool> reconcile(std::string key);

    /// Called by JobCaches. Queues the job, or forgets it if it is gone.
    void job_changed(const std::string& key, const JobPtr* before, const JobPtr* after);
    /// Reports what happened to a job's pod, for people who watch the job.
    void pod_changed(const PodPtr* before, const PodRecord& pod);

  private:
    /// One reconciliation: what is to be done about a job.
    struct Turn {
        std::string key;
        JobPtr job;
        std::string version;  ///< the revision on which the plan's status is based
        Plan plan;
        bool has_order = false;     ///< the plan carries out one for a ScalePlan
        bool status_later = false;  ///< the job's first status was taken out of the plan
    };
    struct TurnResult {
        bool complete = true;    ///< false: something failed and has to be tried again
        bool continues = false;  ///< another turn does the rest at once
    };
    /// The parts of a status that are needed after it is written.
    struct NewStatus {
        PackedStatus status;
        std::vector<Reached> reached;
    };
    /// A turn that is carried out, as it is looked at meanwhile.
    struct UnderWay {
        std::string key;
        JobPtr job;
        jobs::JobStatus told;                 ///< what will be on record
        Instant look_at;                      ///< when it is looked at more closely
        bool may_tell;                        ///< what it reaches is written beside the rest
        std::vector<NewStatus> interim = {};  ///< what it reached
    };

    Task<TurnResult> reconcile_job(std::string key);
    Task<TurnResult> carry_out(Turn turn);
    bool concerns_plans(const std::string& key, const JobPtr& job) const;
    bool lags(const std::string& key, const JobRecord& job) const;
    Plan make_plan(const std::string& key, const JobRecord& job, const ScaleOrder* order,
                   std::string& version);
    Plan plan_and_check(const std::string& key, const JobRecord& job, const jobs::JobStatus& status,
                        const ScaleOrder* order);
    Look look(UnderWay& turn, StatusTurn status_turn);
    jobs::JobStatus known_status(const std::string& key, const JobRecord& job) const;
    NewStatus new_status(const jobs::JobStatus& before, const jobs::JobStatus& status) const;
    void note_execution(const Turn& turn, const Execution& done, NewStatus status,
                        std::vector<NewStatus> interim);
    void note_status(const Turn& turn, std::string base, std::string version, NewStatus status);
    void tell_observer(const std::string& key, const JobRecord& job,
                       const std::vector<Reached>& reached);
    void forget(const std::string& key);

    JobCaches& caches_;
    Executor& executor_;
    kube::Controller& controller_;
    Clock& clock_;
    Options options_;
    std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders_;
    PendingStatusWrites pending_;
    StatusCoalescer coalescer_;
    /// The generation of a job whose edit can't be run, once that was reported.
    std::unordered_map<std::string, std::int64_t> warned_edits_;
    /// Deleted at the end of their TTL; kept until the watch shows it.
    std::unordered_set<std::string> removed_;
    /// Jobs that appeared while we watched and have not run yet, for the observer.
    std::unordered_map<std::string, Instant> seen_new_;
};

}  // namespace muster::operators
