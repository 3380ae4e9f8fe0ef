#pragma once

#include <string>

#include "base/async/side_thread.h"
#include "kube/client/controller.h"
#include "kube/client/event_recorder.h"
#include "workloads/internal/jobs/job_plan.h"
#include "workloads/internal/jobs/job_table.h"
#include "workloads/internal/pods/pod_table.h"
#include "workloads/internal/pods/pod_writer.h"

namespace muster::workloads {

/// Brings the pods and the status of each batch Job to what its spec says: reads the Job, asks
/// plan_job() and carries the plan out. A write that was overtaken is decided again.
///
/// Everything that it refers to outlives the group's tasks. Thread: the loop of the group.
class JobController {
  public:
    JobController(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks, JobTable& jobs,
                  PodTable& pods, SideThread* side_thread);

    /// Once the Jobs are known.
    void start();

  private:
    Task<bool> reconcile(std::string key);
    Task<bool> release(std::vector<PodPtr> pods);
    Task<bool> carry_out(kube::ObjectPtr job, JobPlan plan);
    Task<bool> remove_pods(Owner owner, JobPlan& plan);
    Task<bool> make_pods(kube::ObjectPtr job, const JobPlan& plan, std::int64_t& made);
    Task<bool> delete_job(kube::ObjectPtr job);

    kube::Client& client_;
    Clock& clock_;
    SideThread* const side_thread_;  ///< for large Jobs; may be null
    PodTable& pods_;
    kube::EventRecorder events_;
    PodWriter writer_;
    kube::Controller controller_;
};

}  // namespace muster::workloads
