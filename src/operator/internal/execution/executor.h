#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/side_thread.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "operator/internal/cache/owned_objects.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"
#include "operator/internal/execution/write_batch.h"
#include "operator/internal/execution/write_context.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

class IntegrationCaches;
class OwnedObjectCaches;

/// A status that a job has reached while its plan is carried out, and the events that tell so.
struct InterimStatus {
    jobs::JobStatus status;
    std::vector<JobEvent> events;
};

/// What the caller of an execution sees in the middle of it.
struct Look {
    bool enough = false;  ///< nothing more is begun
    /// Written beside what the plan still has to do. Only if the turn is free.
    std::optional<InterimStatus> reached = std::nullopt;
};

/// Carries out plans. Creations and the status are sent together, deletions after the status; every
/// creation has a deterministic name and every deletion a uid, so that repeating an interrupted
/// execution does no harm. Failures become events, a log line and `complete = false`. With
/// `announce_gangs` each pod says how many pods of its job start together. `owned_objects` and
/// `integrations` are caches to consult before writing one; may be null. Pods of large jobs are made
/// on `side_thread`, if there is one.
class Executor {
  public:
    Executor(kube::Client& client, Clock& clock, TaskGroup& tasks, Table& table, int parallel,
             bool announce_gangs = false, const OwnedObjectCaches* owned_objects = nullptr,
             const IntegrationCaches* integrations = nullptr, SideThread* side_thread = nullptr);

    /// `job`: what pods and services are made from; null only if the plan makes none.
    /// `status_version`: the job's resourceVersion on which the plan's status is based. `look` is
    /// called before each creation and deletion, until it says that it is enough.
    Task<Execution> execute(JobPtr record, std::shared_ptr<const jobs::Job> job,
                            std::string status_version, Plan plan, kube::EventRecorder& recorder,
                            std::function<Look(StatusTurn)> look = nullptr);

  private:
    std::vector<Write> first_writes(const std::shared_ptr<WriteContext>& context, Plan& plan);
    std::vector<Write> deletions(const std::shared_ptr<WriteContext>& context, const Plan& plan);
    Task<bool> ensure_owned_objects(std::shared_ptr<WriteContext> context,
                                    std::vector<IntegrationType> integrations);
    Task<void> ensure(std::shared_ptr<WriteContext> context, jobs::OwnedObject wanted, bool needed);
    OwnedObjectPtr known(const WriteContext& context, const jobs::OwnedObject& owned_object) const;
    const OwnedObjectPause* pause_of(const WriteContext& context,
                                     const jobs::OwnedObject& wanted) const;
    void tell_pause(WriteContext& context, const OwnedObjectPause& pause);
    bool comes_too_late(const WriteContext& context, const Dependents& dependents,
                        const jobs::OwnedObject& wanted) const;
    Task<void> remove_integration(std::shared_ptr<WriteContext> context,
                                  IntegrationDeletion deletion);
    Task<void> create_pod(std::shared_ptr<WriteContext> context, PodCreation creation);
    Task<Result<void>> build_and_create_pod(std::shared_ptr<WriteContext> context,
                                            PodCreation creation, std::string name);
    Task<Result<void>> make_way(std::shared_ptr<WriteContext> context, SlotId slot);
    Task<void> create_service(std::shared_ptr<WriteContext> context, ServiceCreation creation);
    Task<void> remove(std::shared_ptr<WriteContext> context, kube::ResourceType type,
                      Deletion deletion);
    Task<void> remove_job(std::shared_ptr<WriteContext> context);
    BeforeWrite before_write(const std::shared_ptr<WriteContext>& context, Look look);
    Task<void> write_planned_status(std::shared_ptr<WriteContext> context, jobs::JobStatus status);
    Task<void> write_interim(std::shared_ptr<WriteContext> context, InterimStatus interim);
    Task<bool> write_status(std::shared_ptr<WriteContext> context, jobs::JobStatus status);
    Task<Result<void>> create(std::shared_ptr<WriteContext> context, kube::ResourceType type,
                              std::string name, json::value object);

    kube::Client& client_;
    Clock& clock_;
    TaskGroup& tasks_;
    Table& table_;
    int parallel_;
    bool announce_gangs_;
    const OwnedObjectCaches* owned_objects_;
    const IntegrationCaches* integrations_;
    SideThread* side_thread_;
};

}  // namespace muster::operators
