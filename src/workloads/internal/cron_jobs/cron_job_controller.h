#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/async/side_thread.h"
#include "kube/client/controller.h"
#include "kube/client/event_recorder.h"
#include "kube/client/informer.h"
#include "kube/schedule/time_zone.h"
#include "workloads/internal/cron_jobs/cron_job_plan.h"
#include "workloads/internal/jobs/job_table.h"
#include "workloads/internal/pods/controlled.h"

namespace muster::workloads {

/// Makes the Jobs of CronJobs at their times and removes the oldest: reads the CronJob, asks
/// plan_cron_job() and carries the plan out.
///
/// Everything that it refers to outlives the group's tasks. Thread: the loop of the group.
class CronJobController {
  public:
    CronJobController(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                      JobTable& jobs, SideThread* side_thread);

    /// Begins to watch CronJobs.
    void watch(TaskGroup& tasks) { cron_jobs_.start(tasks); }
    Task<void> wait_synced() { return cron_jobs_.wait_synced(); }
    /// Once Jobs and CronJobs are known.
    void start();

  private:
    /// Of a CronJob only its key is kept.
    struct Known {};

    Task<bool> reconcile(std::string key);
    std::optional<kube::TimeZone> zone_of(const json::object& cron_job);
    Task<std::optional<std::set<std::string>>> find_missing(kube::ObjectPtr object,
                                                            std::set<std::string> known);
    Task<bool> carry_out(kube::ObjectPtr cron_job, CronJobPlan plan, kube::TimeZone zone);
    Task<bool> remove_jobs(Owner owner, std::vector<JobRecord> jobs);
    Task<bool> make_job(kube::ObjectPtr cron_job, CronJobPlan& plan, kube::TimeZone zone);

    kube::Client& client_;
    Clock& clock_;
    SideThread* const side_thread_;  ///< for large CronJobs; may be null
    JobTable& jobs_;
    kube::EventRecorder events_;
    kube::Informer<Known> cron_jobs_;
    kube::Controller controller_;
    std::map<std::string, kube::TimeZone, std::less<>> zones_;  ///< those that were used
    const kube::TimeZone own_zone_ = kube::local_time_zone();
};

}  // namespace muster::workloads
