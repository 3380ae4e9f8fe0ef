#include "operator/internal/execution/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/fault.h"
#include "base/log.h"
#include "kube/objects/codec.h"
#include "operator/internal/cache/integration_caches.h"
#include "operator/internal/cache/owned_object_caches.h"
#include "operator/internal/cache/seen_pods.h"
#include "operator/internal/execution/batch_job.h"
#include "operator/internal/execution/claims.h"
#include "operator/internal/execution/node_affinity.h"
#include "operator/internal/execution/owned_object_writer.h"
#include "operator/internal/execution/write_batch.h"
#include "operator/internal/integrations/gang.h"
#include "operator/internal/integrations/integrations.h"

namespace muster::operators {
namespace {

/// How long a request's effect may take to show in the watch. After that the request is made again,
/// which is safe: it costs one answer "already exists" or "not found".
constexpr Duration kPatience = std::chrono::seconds(30);

std::size_t hash_of(const jobs::OwnedObject& wanted) {
    return std::hash<std::string>{}(json::serialize(wanted.content));
}

/// A server refuses the binding of a Role that is not there: it has to see what that would allow.
bool refers_to_others(const kube::ResourceType& type) { return type.kind == "RoleBinding"; }

/// None of a job whose manifest can't be run.
std::map<std::string, std::int32_t> wanted_replicas(const JobRecord& job) {
    std::map<std::string, std::int32_t> wanted;
    if (job.facts != nullptr)
        for (const TypeFacts& type : job.facts->types)
            wanted[job.facts->name_of(type.type)] = type.wanted;
    return wanted;
}

}  // namespace

Executor::Executor(kube::Client& client, Clock& clock, TaskGroup& tasks, Table& table, int parallel,
                   bool announce_gangs, const OwnedObjectCaches* owned_objects,
                   const IntegrationCaches* integrations, SideThread* side_thread)
    : client_(client),
      clock_(clock),
      tasks_(tasks),
      table_(table),
      parallel_(parallel),
      announce_gangs_(announce_gangs),
      owned_objects_(owned_objects),
      integrations_(integrations),
      side_thread_(side_thread) {}

Task<Execution> Executor::execute(JobPtr record, std::shared_ptr<const jobs::Job> job,
                                  std::string status_version, Plan plan,
                                  kube::EventRecorder& recorder,
                                  std::function<Look(StatusTurn)> look) {
    kube::ObjectReference about = reference_to(*record);
    kube::Client client = client_.of_flow(record->uid.get());
    auto context =
        std::make_shared<WriteContext>(WriteContext{.client = std::move(client),
                                                    .record = std::move(record),
                                                    .job = std::move(job),
                                                    .status_version = std::move(status_version),
                                                    .events = std::move(plan.events),
                                                    .recorder = recorder,
                                                    .about = std::move(about),
                                                    .result = {}});

    context->owned_object_pauses = std::move(plan.owned_object_pauses);
    context->excluded_nodes = std::move(plan.excluded_nodes);
    if (plan.ensure_owned_objects &&
        !co_await ensure_owned_objects(context, std::move(plan.ensure_integrations))) {
        plan.create_pods.clear();
        plan.create_services.clear();
    }

    const bool tells_status = plan.status.has_value();
    if (tells_status) context->status_turn = StatusTurn::kTaken;
    std::function<BeforeWrite()> before;
    if (look)
        before = [this, context, look = std::move(look)] {
            return before_write(context, look(context->status_turn));
        };
    std::vector<Write> writes = first_writes(context, plan);
    // First of all: released objects are in no one's way, or known to be.
    if (plan.claims()) co_await claim(context, plan, tasks_, parallel_);
    context->result.cut = !co_await run_writes(tasks_, std::move(writes), parallel_, before);
    context->tell_created("Pod", context->created_pods);
    context->tell_created("Service", context->created_services);
    context->result.made_any = !context->created_pods.empty() || !context->created_services.empty();

    if (!tells_status || context->result.status_written) {
        context->tell_events();
        if (!co_await run_writes(tasks_, deletions(context, plan), parallel_, before))
            context->result.cut = true;
        if (plan.delete_job && !context->result.cut) co_await remove_job(context);
    }
    co_return std::move(context->result);
}

/// The status, which is taken out of the plan, and all creations.
std::vector<Write> Executor::first_writes(const std::shared_ptr<WriteContext>& context,
                                          Plan& plan) {
    std::vector<Write> writes;
    if (plan.status)
        writes.emplace_back([this, context, status = *std::move(plan.status)] {
            return write_planned_status(context, status);
        });
    // A replica's service is created next to its pod, so that the name resolves when the process
    // starts.
    auto service = plan.create_services.begin();
    for (const PodCreation& creation : plan.create_pods) {
        writes.emplace_back([this, context, creation] { return create_pod(context, creation); });
        if (service != plan.create_services.end())
            writes.emplace_back([this, context, creation = *service++] {
                return create_service(context, creation);
            });
    }
    for (; service != plan.create_services.end(); ++service)
        writes.emplace_back(
            [this, context, creation = *service] { return create_service(context, creation); });
    return writes;
}

std::vector<Write> Executor::deletions(const std::shared_ptr<WriteContext>& context,
                                       const Plan& plan) {
    std::vector<Write> writes;
    const auto remove_all = [&](const std::vector<Deletion>& all, const kube::ResourceType& type) {
        for (const Deletion& deletion : all)
            writes.emplace_back(
                [this, context, type, deletion] { return remove(context, type, deletion); });
    };
    remove_all(plan.delete_pods, kube::types::kPods);
    remove_all(plan.delete_services, kube::types::kServices);
    for (const IntegrationDeletion& deletion : plan.delete_integrations)
        writes.emplace_back(
            [this, context, deletion] { return remove_integration(context, deletion); });
    return writes;
}

Task<Result<void>> Executor::create(std::shared_ptr<WriteContext> context, kube::ResourceType type,
                                    std::string name, json::value object) {
    const JobPtr& record = context->record;
    const std::string ns = record->namespace_;
    auto written = co_await context->client.create_unread(type, ns, std::move(object));
    if (written.has_value() && fault_point())
        co_return Error(Code::kTimeout, "the answer was lost, the object was made");
    if (written.has_value()) co_return Result<void>();
    if (written.error().code() != Code::kAlreadyExists) co_return std::move(written.error());

    // Ours from an earlier try whose answer or watch event is still to come, or someone else's.
    auto existing = co_await context->client.get(type, ns, name);
    if (!existing.has_value()) {
        if (existing.error().code() == Code::kNotFound)
            co_return Error(Code::kConflict, fmt::format("{} {}/{} was there and is gone again",
                                                         type.kind, ns, name));
        co_return std::move(existing.error());
    }
    const kube::ObjectMeta metadata = metadata_of(**existing);
    const kube::OwnerReference* owner = metadata.controller();
    if (owner == nullptr || owner->uid != record->uid.get())
        co_return Error(Code::kAlreadyExists,
                        fmt::format("{} {}/{} already exists and {}: {} {} waits until it is gone; "
                                    "delete it or rename the job",
                                    type.kind, ns, name, owner_text(metadata),
                                    record->kind->resource.kind, record->name));
    // The operator finds objects by their labels, so it would wait for this one without end.
    const auto seen = project_service(**existing, {&record->kind, 1});
    if (!seen.has_value() || (*seen)->label_mismatch)
        co_return Error(Code::kAlreadyExists,
                        fmt::format("{} {}/{} belongs to this job but its labels do not: restore "
                                    "its training.kubeflow.org labels or delete it",
                                    type.kind, ns, name));
    co_return Result<void>();
}

// Each is recorded before it is sent: the watch may show its effect before the answer comes.

Task<void> Executor::create_pod(std::shared_ptr<WriteContext> context, PodCreation creation) {
    table_.of(context->job_uid()).pod_create_sent(creation.slot, clock_.now() + kPatience);
    const std::string name = context->name_of(creation.slot);
    const Result<void> created = co_await build_and_create_pod(context, creation, name);
    if (created.has_value()) {
        context->created_pods.push_back(name);
        co_return;
    }
    table_.of(context->job_uid()).pod_create_failed(creation.slot);
    context->fail_and_tell("create pod", name, created.error(), "FailedCreatePod",
                           "Error creating");
}

Task<Result<void>> Executor::build_and_create_pod(std::shared_ptr<WriteContext> context,
                                                  PodCreation creation, std::string name) {
    const jobs::ReplicaId replica = context->replica(creation.slot, creation.kept_rank);
    const std::size_t weight = context->record->large ? kWorthSideThread : 0;
    auto pod = co_await compute_beside(
        side_thread_, "make a pod", weight, [job = context->job, replica, creation] {
            return jobs::build_pod(*job, replica, creation.restart_history, creation.own);
        });
    if (!pod.has_value()) co_return std::move(pod.error());
    // A pod beside the job starts as soon as it can: it is no member of a gang.
    const bool is_member = !context->job->kind->is_beside(replica.type);
    if (is_member && announce_gangs_) announce_gang(*context->job, *pod);
    if (is_member && integrations_ != nullptr)
        mark_for_scheduler(*context->job, replica, integrations_->priorities(), *pod);
    // One machine has no other node.
    if (context->job->platform.cluster) keep_from_nodes(pod->spec, context->excluded_nodes);
    const Result<void> way = co_await make_way(context, creation.slot);
    if (!way.has_value()) co_return way;
    json::value object =
        co_await compute_beside(side_thread_, "write a pod", weight,
                                [made = std::make_shared<const kube::Pod>(*std::move(pod))] {
                                    return kube::encode(*made);
                                });
    co_return co_await create(context, kube::types::kPods, std::move(name), std::move(object));
}

/// A batch Job of an earlier operator without a pod that we see, as while it waits to try again,
/// would make one beside ours. Its pods are deleted before it is, so that none of them is left
/// unseen.
Task<Result<void>> Executor::make_way(std::shared_ptr<WriteContext> context, SlotId slot) {
    if (!context->record->kind->replica_types[slot.type].had_batch_job) co_return Result<void>();
    const std::string name = context->name_of(slot);
    const auto stands = co_await end_batch_job(context->client, *context->record, name,
                                               kube::Propagation::kForeground);
    if (!stands) co_return std::move(stands.error());
    if (*stands == BatchJob::kEnds)
        co_return Error(Code::kConflict,
                        fmt::format("Job {}/{} of an earlier operator goes", context->ns(), name));
    co_return Result<void>();
}

Task<void> Executor::create_service(std::shared_ptr<WriteContext> context,
                                    ServiceCreation creation) {
    const SlotId slot = creation.slot;
    table_.of(context->job_uid()).service_create_sent(slot, clock_.now() + kPatience);
    const std::string name = context->name_of(slot);
    Result<void> created;
    auto service = jobs::build_service(*context->job, context->replica(slot, creation.kept_rank),
                                       creation.in_a_row);
    if (service.has_value())
        created = co_await create(context, kube::types::kServices, name, kube::encode(*service));
    else
        created = std::move(service.error());
    if (created.has_value()) {
        context->created_services.push_back(name);
        co_return;
    }
    table_.of(context->job_uid()).service_create_failed(slot);
    context->fail_and_tell("create service", name, created.error(), "FailedCreateService",
                           "Error creating");
}

Task<void> Executor::remove(std::shared_ptr<WriteContext> context, kube::ResourceType type,
                            Deletion deletion) {
    table_.of(context->job_uid())
        .delete_sent(deletion.slot, deletion.uid, clock_.now() + kPatience);
    kube::DeleteOptions options;
    options.precondition_uid = deletion.uid;
    auto removed =
        co_await context->client.remove(type, context->ns(), deletion.name, std::move(options));
    const bool is_pod = type == kube::types::kPods;
    if (removed.has_value()) {
        context->tell(kube::EventType::kNormal,
                      is_pod ? "SuccessfulDeletePod" : "SuccessfulDeleteService",
                      fmt::format("Deleted {}: {}", is_pod ? "pod" : "service", deletion.name));
        co_return;
    }
    // Gone already, or replaced by another of the same name: the watch will show it.
    const Code code = removed.error().code();
    if (code == Code::kNotFound || code == Code::kConflict) co_return;
    table_.of(context->job_uid()).delete_failed(deletion.slot, deletion.uid);
    context->fail_and_tell(is_pod ? "delete pod" : "delete service", deletion.name, removed.error(),
                           is_pod ? "FailedDeletePod" : "FailedDeleteService", "Error deleting");
}

/// The end of its TTL (upstream's reasons for this event differ by kind; TFJob's is the clear one).
Task<void> Executor::remove_job(std::shared_ptr<WriteContext> context) {
    const JobRecord& job = *context->record;
    kube::DeleteOptions options;
    options.precondition_uid = job.uid.get();
    // Not if it was suspended or edited since.
    options.precondition_resource_version = context->status_version;
    auto removed = co_await context->client.remove(job.kind->resource, job.namespace_, job.name,
                                                   std::move(options));
    if (removed.has_value()) {
        context->result.job_removed = true;
        context->tell(kube::EventType::kNormal, "SuccessfulDeleteJob", "Deleted job: " + job.name);
        co_return;
    }
    if (removed.error().code() == Code::kNotFound) co_return;
    if (removed.error().code() == Code::kConflict) {
        context->result.complete = false;
        co_return;
    }
    context->fail_and_tell("delete job", job.name, removed.error(), "FailedDeleteJob",
                           "Error deleting");
}

// --- owned objects

OwnedObjectPtr Executor::known(const WriteContext& context,
                               const jobs::OwnedObject& owned_object) const {
    OwnedObjectPtr found;
    if (owned_objects_ != nullptr)
        found = owned_objects_->find(owned_object.type, context.ns(), owned_object.name);
    if (!found && integrations_ != nullptr)
        found = integrations_->find(owned_object.type, context.ns(), owned_object.name);
    return found;
}

/// Whether it is missing and pods are there that have started without it.
bool Executor::comes_too_late(const WriteContext& context, const Dependents& dependents,
                              const jobs::OwnedObject& wanted) const {
    return wanted.before_pods_only && dependents.has_pods() && !known(context, wanted);
}

/// False if one that pods need is not as it should be. The job's next reconciliation tries again.
Task<bool> Executor::ensure_owned_objects(std::shared_ptr<WriteContext> context,
                                          std::vector<IntegrationType> integrations) {
    const Dependents& dependents = table_.of(context->job_uid());
    const std::uint64_t version = dependents.owned_objects_version();
    std::vector<Write> writes;
    std::vector<Write> later;
    const auto ensure_each = [&](jobs::OwnedObject wanted, bool needed) {
        auto& turn = refers_to_others(wanted.type) ? later : writes;
        turn.emplace_back([this, context, wanted = std::move(wanted), needed] {
            return ensure(context, wanted, needed);
        });
    };
    if (context->record->facts->owns_objects) {
        for (jobs::OwnedObject& wanted : context->record->kind->owned_objects(
                 *context->job, seen_pods(*context->record->facts, dependents)))
            if (!comes_too_late(*context, dependents, wanted)) ensure_each(std::move(wanted), true);
    }
    for (IntegrationType type : integrations)
        ensure_each(integration_object(*context->job, type, integrations_->priorities()),
                    is_pod_group(type));
    co_await run_writes(tasks_, std::move(writes), parallel_);
    if (!context->pods_must_wait) co_await run_writes(tasks_, std::move(later), parallel_);
    // Of several, always the same, so that the condition that names it does not change.
    if (!context->obstructions.empty())
        table_.of(context->job_uid()).obstructed(*context->obstructions.begin());
    if (context->owned_objects_ensured)
        table_.of(context->job_uid()).owned_objects_ensured(version);
    co_return !context->pods_must_wait;
}

/// What others did to it before, if that is the reason why it is not as it should be; null if not.
const OwnedObjectPause* Executor::pause_of(const WriteContext& context,
                                           const jobs::OwnedObject& wanted) const {
    const OwnedObjectId id{wanted.type.kind, wanted.name};
    for (const OwnedObjectPause& pause : context.owned_object_pauses)
        if (pause.id == id && (!pause.corrected_to || pause.corrected_to == hash_of(wanted)))
            return &pause;
    return nullptr;
}

void Executor::tell_pause(WriteContext& context, const OwnedObjectPause& pause) {
    if (!table_.of(context.job_uid()).owned_history().pause_to_be_told(pause.id)) return;
    const bool changed = pause.corrected_to.has_value();
    context.tell(
        kube::EventType::kWarning, changed ? "ChangedAgain" : "DeletedAgain",
        fmt::format("{} {} was {} soon after it was {}, for the {}. time in a row: it is "
                    "{} again after a pause of {} s; find out what {} it",
                    pause.id.kind, pause.id.name, changed ? "changed" : "deleted",
                    changed ? "corrected" : "made", pause.in_a_row, changed ? "corrected" : "made",
                    pause.length.count(), changed ? "changes" : "deletes"));
}

Task<void> Executor::ensure(std::shared_ptr<WriteContext> context, jobs::OwnedObject wanted,
                            bool needed) {
    const OwnedObjectPtr before = known(*context, wanted);
    if (is_right(before, *context->job, wanted)) co_return;
    const OwnedObjectPause* pause = pause_of(*context, wanted);
    if (pause != nullptr && pause->waits) {
        tell_pause(*context, *pause);
        context->owned_objects_ensured = false;
        if (needed) context->pods_must_wait = true;
        co_return;
    }
    const std::int32_t in_a_row = pause == nullptr ? 0 : pause->in_a_row;
    // One that is made says how many went before it.
    if (pause != nullptr && !pause->corrected_to)
        wanted.annotations[std::string(jobs::annotations::kInARow)] = std::to_string(in_a_row);
    const auto outcome =
        co_await ensure_owned_object(context->client, before, context->job, wanted);
    if (outcome.has_value()) {
        if (*outcome == OwnedObjectOutcome::kMade)
            context->tell(kube::EventType::kNormal, "SuccessfulCreate" + wanted.type.kind,
                          fmt::format("Created {}: {}", wanted.type.kind, wanted.name));
        if (*outcome == OwnedObjectOutcome::kCorrected)
            table_.of(context->job_uid())
                .owned_history()
                .corrected({wanted.type.kind, wanted.name}, hash_of(wanted), in_a_row,
                           clock_.wall_now());
        co_return;
    }
    context->owned_objects_ensured = false;
    if (needed) context->pods_must_wait = true;
    const bool foreign = outcome.error().code() == Code::kAlreadyExists;
    if (foreign && needed) context->obstructions.insert(outcome.error().message());
    context->fail_and_tell("create " + wanted.type.kind, wanted.name, outcome.error(),
                           foreign ? "ErrResourceExists" : "FailedCreate" + wanted.type.kind,
                           "Error creating");
}

Task<void> Executor::remove_integration(std::shared_ptr<WriteContext> context,
                                        IntegrationDeletion deletion) {
    const kube::ResourceType& type = resource_of(deletion.type);
    const std::string& name = context->record->name;
    table_.of(context->job_uid()).owned_history().delete_sent(deletion.uid);
    kube::DeleteOptions options;
    options.precondition_uid = deletion.uid;
    auto removed = co_await context->client.remove(type, context->ns(), name, std::move(options));
    if (removed.has_value()) {
        context->tell(kube::EventType::kNormal, "SuccessfulDelete" + type.kind,
                      fmt::format("Deleted {}: {}", type.kind, name));
        co_return;
    }
    const Code code = removed.error().code();
    if (code == Code::kNotFound || code == Code::kConflict) co_return;
    table_.of(context->job_uid()).owned_history().delete_failed(deletion.uid);
    context->fail_and_tell("delete " + type.kind, name, removed.error(), "FailedDelete" + type.kind,
                           "Error deleting");
}

// --- the status

/// The worker that would begin the next write writes the status first: the pass ends when it has.
BeforeWrite Executor::before_write(const std::shared_ptr<WriteContext>& context, Look look) {
    if (look.enough || !look.reached) return {.enough = look.enough};
    CHECK(context->status_turn == StatusTurn::kFree, "two statuses of a job under way");
    context->status_turn = StatusTurn::kTaken;
    return {.first = [this, context, interim = *std::move(look.reached)] {
        return write_interim(context, interim);
    }};
}

Task<void> Executor::write_planned_status(std::shared_ptr<WriteContext> context,
                                          jobs::JobStatus status) {
    if (!co_await write_status(context, std::move(status))) co_return;
    context->result.status_written = true;
    context->result.resource_version = context->status_version;
}

Task<void> Executor::write_interim(std::shared_ptr<WriteContext> context, InterimStatus interim) {
    const std::string base = context->status_version;
    if (!co_await write_status(context, std::move(interim.status))) co_return;
    context->result.interim.push_back({base, context->status_version});
    context->tell_events();  // they come first
    for (JobEvent& event : interim.events)
        context->tell(event.type, std::move(event.reason), std::move(event.message));
}

/// False: it was not accepted, which is told.
Task<bool> Executor::write_status(std::shared_ptr<WriteContext> context, jobs::JobStatus status) {
    const JobRecord& job = *context->record;
    const kube::ResourceType& resource = job.kind->resource;
    json::object body{
        {"apiVersion", resource.api_version()},
        {"kind", resource.kind},
        {"metadata", json::object{{"name", job.name},
                                  {"namespace", job.namespace_},
                                  {"uid", job.uid.get()},
                                  {"resourceVersion", context->status_version}}},
        {"status", jobs::write_status(*job.kind, status, wanted_replicas(job))},
    };
    auto written = co_await context->client.update(resource, job.namespace_, job.name,
                                                   std::move(body), "status");
    if (!written.has_value()) {
        context->status_turn = StatusTurn::kLost;
        // Deleted while we worked: the next reconciliation finds no job.
        if (written.error().code() != Code::kNotFound)
            context->fail("write status", job.name, written.error());
        co_return false;
    }
    context->status_turn = StatusTurn::kFree;
    context->status_version = metadata_of(*written->object).resource_version;
    co_return true;
}

}  // namespace muster::operators
