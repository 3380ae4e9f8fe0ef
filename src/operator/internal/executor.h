#pragma once

#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "operator/internal/planner.h"
#include "operator/internal/records.h"
#include "operator/internal/table.h"

namespace muster::operators {

/// How a pass ended.
struct Execution {
    bool complete = true;  ///< false: something failed and wants another try
    /// The status that was written, and the job's resourceVersion that it made.
    std::optional<jobs::JobStatus> status;
    std::string resource_version;
};

/// Carries out plans. Creations and the status go out together, deletions after the status; every
/// creation has a deterministic name and every deletion a uid, so that repeating a pass that was
/// cut off anywhere does no harm. Failures become events, a log line and `complete = false`.
class Executor {
  public:
    Executor(kube::Client& client, Clock& clock, TaskGroup& tasks, Table& table, int parallel);

    /// `status_version`: the job's resourceVersion that the plan's status was made from.
    Task<Execution> execute(JobPtr record, std::string status_version, Plan plan,
                            kube::EventRecorder& recorder);

  private:
    struct Pass;

    Task<void> create_pod(std::shared_ptr<Pass> pass, jobs::ReplicaId replica);
    Task<void> create_service(std::shared_ptr<Pass> pass, jobs::ReplicaId replica);
    Task<void> remove(std::shared_ptr<Pass> pass, kube::ResourceType type, Deletion deletion);
    Task<void> write_status(std::shared_ptr<Pass> pass, jobs::JobStatus status);
    Task<Result<void>> create(kube::ResourceType type, JobPtr record, std::string name,
                              json::value object);

    kube::Client& client_;
    Clock& clock_;
    TaskGroup& tasks_;
    Table& table_;
    int parallel_;
};

}  // namespace muster::operators
