#include "operator/internal/executor.h"

#include <fmt/format.h>

#include "base/fault.h"
#include "base/log.h"
#include "kube/codec.h"
#include "operator/internal/write_batch.h"

namespace muster::operators {
namespace {

/// How long a request's effect may take to show in the watch. Past it the request is made again,
/// which is safe: it costs one answer "already exists" or "not found".
constexpr Duration kPatience = std::chrono::seconds(30);

/// Who owns the object that has the name we want.
std::string owner_text(const kube::ObjectMeta& metadata) {
    const kube::OwnerReference* owner = metadata.controller();
    if (owner == nullptr) return "belongs to nobody";
    return fmt::format("belongs to {} {} (uid {})", owner->kind, owner->name, owner->uid);
}

}  // namespace

struct Executor::Pass {
    JobPtr record;
    std::string status_version;
    kube::EventRecorder& recorder;
    kube::ObjectReference about;
    Execution result;
    bool status_written = true;

    const jobs::Job& job() const { return *record->job; }
    const std::string& ns() const { return record->metadata.namespace_; }
    JobUid job_uid() const { return record->uid(); }

    void tell(kube::EventType type, std::string reason, std::string message) {
        recorder.record(about, type, std::move(reason), std::move(message));
    }
    void fail(std::string_view what, std::string_view name, const Error& error) {
        result.complete = false;
        if (error.is_expected()) return;
        log::warning("a job's pass could not finish", {{"kind", record->kind->resource.kind},
                                                       {"namespace", ns()},
                                                       {"job", record->metadata.name},
                                                       {"request", what},
                                                       {"name", name},
                                                       {"error", error.message()}});
    }
};

Executor::Executor(kube::Client& client, Clock& clock, TaskGroup& tasks, Table& table, int parallel)
    : client_(client), clock_(clock), tasks_(tasks), table_(table), parallel_(parallel) {}

Task<Execution> Executor::execute(JobPtr record, std::string status_version, Plan plan,
                                  kube::EventRecorder& recorder) {
    kube::ObjectReference about = reference_to(*record);
    auto pass = std::make_shared<Pass>(Pass{.record = std::move(record),
                                            .status_version = std::move(status_version),
                                            .recorder = recorder,
                                            .about = std::move(about),
                                            .result = {}});

    // Marked before anything is sent: the watch may show an effect before the answer comes.
    const Instant until = clock_.now() + kPatience;
    for (const jobs::ReplicaId& replica : plan.create_pods)
        table_.pod_create_sent(pass->job_uid(), replica, until);
    for (const jobs::ReplicaId& replica : plan.create_services)
        table_.service_create_sent(pass->job_uid(), replica, until);

    std::vector<Task<void>> writes;
    if (plan.status) writes.push_back(write_status(pass, *std::move(plan.status)));
    // A replica's service goes next to its pod, so that the name resolves when the process starts.
    auto service = plan.create_services.begin();
    for (const jobs::ReplicaId& replica : plan.create_pods) {
        writes.push_back(create_pod(pass, replica));
        if (service != plan.create_services.end())
            writes.push_back(create_service(pass, *service++));
    }
    for (; service != plan.create_services.end(); ++service)
        writes.push_back(create_service(pass, *service));
    co_await run_writes(tasks_, std::move(writes), parallel_);

    if (pass->status_written) {
        for (JobEvent& event : plan.events)
            pass->tell(event.type, std::move(event.reason), std::move(event.message));
        std::vector<Task<void>> deletions;
        const Instant gone_by = clock_.now() + kPatience;
        for (Deletion& deletion : plan.delete_pods) {
            table_.delete_sent(pass->job_uid(), deletion.uid, gone_by);
            deletions.push_back(remove(pass, kube::types::kPods, std::move(deletion)));
        }
        for (Deletion& deletion : plan.delete_services) {
            table_.delete_sent(pass->job_uid(), deletion.uid, gone_by);
            deletions.push_back(remove(pass, kube::types::kServices, std::move(deletion)));
        }
        co_await run_writes(tasks_, std::move(deletions), parallel_);
    }
    co_return std::move(pass->result);
}

Task<Result<void>> Executor::create(kube::ResourceType type, JobPtr record, std::string name,
                                    json::value object) {
    const std::string ns = record->metadata.namespace_;
    auto written = co_await client_.create(type, ns, std::move(object));
    if (written.has_value() && fault_point())
        co_return Error(Code::kTimeout, "the answer was lost, the object was made");
    if (written.has_value()) co_return Result<void>();
    if (written.error().code() != Code::kAlreadyExists) co_return std::move(written.error());

    // Ours from an earlier try whose answer or watch event is still on the way, or somebody else's.
    auto existing = co_await client_.get(type, ns, name);
    if (!existing.has_value()) {
        if (existing.error().code() == Code::kNotFound)
            co_return Error(Code::kConflict, fmt::format("{} {}/{} was there and is gone again",
                                                         type.kind, ns, name));
        co_return std::move(existing.error());
    }
    const kube::ObjectMeta metadata = metadata_of(**existing);
    const kube::OwnerReference* owner = metadata.controller();
    if (owner == nullptr || owner->uid != record->metadata.uid)
        co_return Error(Code::kAlreadyExists,
                        fmt::format("{} {}/{} already exists and {}: {} {} waits until it is gone; "
                                    "delete it or rename the job",
                                    type.kind, ns, name, owner_text(metadata),
                                    record->kind->resource.kind, record->metadata.name));
    const bool known = type == kube::types::kPods ? project_pod(**existing).has_value()
                                                  : project_service(**existing).has_value();
    if (!known)
        co_return Error(Code::kAlreadyExists,
                        fmt::format("{} {}/{} is of this job but its labels are not: give it back "
                                    "its training.kubeflow.org labels or delete it",
                                    type.kind, ns, name));
    co_return Result<void>();
}

Task<void> Executor::create_pod(std::shared_ptr<Pass> pass, jobs::ReplicaId replica) {
    const std::string name = jobs::replica_name(pass->job(), replica);
    Result<void> created;
    auto pod = jobs::build_pod(pass->job(), replica);
    if (pod.has_value())
        created = co_await create(kube::types::kPods, pass->record, name, kube::encode(*pod));
    else
        created = std::move(pod.error());
    if (created.has_value()) {
        pass->tell(kube::EventType::kNormal, "SuccessfulCreatePod", "Created pod: " + name);
        co_return;
    }
    table_.pod_create_failed(pass->job_uid(), replica);
    pass->fail("create pod", name, created.error());
    if (!created.error().is_expected())
        pass->tell(kube::EventType::kWarning, "FailedCreatePod",
                   "Error creating: " + created.error().message());
}

Task<void> Executor::create_service(std::shared_ptr<Pass> pass, jobs::ReplicaId replica) {
    const std::string name = jobs::replica_name(pass->job(), replica);
    Result<void> created;
    auto service = jobs::build_service(pass->job(), replica);
    if (service.has_value())
        created =
            co_await create(kube::types::kServices, pass->record, name, kube::encode(*service));
    else
        created = std::move(service.error());
    if (created.has_value()) {
        pass->tell(kube::EventType::kNormal, "SuccessfulCreateService", "Created service: " + name);
        co_return;
    }
    table_.service_create_failed(pass->job_uid(), replica);
    pass->fail("create service", name, created.error());
    if (!created.error().is_expected())
        pass->tell(kube::EventType::kWarning, "FailedCreateService",
                   "Error creating: " + created.error().message());
}

Task<void> Executor::remove(std::shared_ptr<Pass> pass, kube::ResourceType type,
                            Deletion deletion) {
    kube::DeleteOptions options;
    options.precondition_uid = deletion.uid;
    auto removed = co_await client_.remove(type, pass->ns(), deletion.name, std::move(options));
    const bool is_pod = type == kube::types::kPods;
    if (removed.has_value()) {
        pass->tell(kube::EventType::kNormal,
                   is_pod ? "SuccessfulDeletePod" : "SuccessfulDeleteService",
                   fmt::format("Deleted {}: {}", is_pod ? "pod" : "service", deletion.name));
        co_return;
    }
    // Gone already, or replaced by another of the same name: the watch will say so.
    const Code code = removed.error().code();
    if (code == Code::kNotFound || code == Code::kConflict) co_return;
    table_.delete_failed(pass->job_uid(), deletion.uid);
    pass->fail(is_pod ? "delete pod" : "delete service", deletion.name, removed.error());
    if (!removed.error().is_expected())
        pass->tell(kube::EventType::kWarning, is_pod ? "FailedDeletePod" : "FailedDeleteService",
                   "Error deleting: " + removed.error().message());
}

Task<void> Executor::write_status(std::shared_ptr<Pass> pass, jobs::JobStatus status) {
    const kube::ResourceType& resource = pass->record->kind->resource;
    const kube::ObjectMeta& metadata = pass->record->metadata;
    json::object body{
        {"apiVersion", resource.api_version()},
        {"kind", resource.kind},
        {"metadata", json::object{{"name", metadata.name},
                                  {"namespace", metadata.namespace_},
                                  {"uid", metadata.uid},
                                  {"resourceVersion", pass->status_version}}},
        {"status", kube::encode(status)},
    };
    auto written = co_await client_.update(resource, metadata.namespace_, metadata.name,
                                           std::move(body), "status");
    if (!written.has_value()) {
        pass->status_written = false;
        // Gone while we worked: the next pass finds no job.
        if (written.error().code() == Code::kNotFound) co_return;
        pass->fail("write status", metadata.name, written.error());
        co_return;
    }
    pass->result.resource_version = metadata_of(*written->object).resource_version;
    pass->result.status = std::move(status);
}

}  // namespace muster::operators
