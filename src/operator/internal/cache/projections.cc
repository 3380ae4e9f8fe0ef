#include "operator/internal/cache/projections.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include "base/async/side_thread.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "base/utf8.h"
#include "jobs/scale_plan.h"
#include "kube/objects/codec.h"
#include "kube/objects/pod_contract.h"
#include "kube/values/quantity.h"
#include "kube/values/text_size.h"
#include "kube/values/time.h"

namespace muster::operators {
namespace {

// Pods change often and few of their fields matter here, so these are read directly instead of
// decoding the whole pod. Most are nested, so unlike those of json_access.h these readers also take
// a parent that is null.

const json::value* child(const json::value* value, std::string_view key) {
    const json::object* object = value == nullptr ? nullptr : value->if_object();
    return object == nullptr ? nullptr : object->if_contains(key);
}

const json::value* at(const json::value& value, std::initializer_list<std::string_view> path) {
    const json::value* found = &value;
    for (std::string_view key : path) found = child(found, key);
    return found;
}

std::string text(const json::value* value) {
    const json::string* found = value == nullptr ? nullptr : value->if_string();
    return found == nullptr ? std::string() : std::string(*found);
}

std::int32_t number(const json::value* value) {
    if (value == nullptr || !value->is_number()) return 0;
    boost::system::error_code unfit;
    const auto converted = value->to_number<std::int32_t>(unfit);
    return unfit ? 0 : converted;
}

const json::array& list(const json::value* value) {
    static const json::array kEmpty;
    const json::array* found = value == nullptr ? nullptr : value->if_array();
    return found == nullptr ? kEmpty : *found;
}

const json::value* controller_of(const json::value& object) {
    for (const json::value& owner : list(at(object, {"metadata", "ownerReferences"}))) {
        const json::value* controller = child(&owner, "controller");
        if (controller != nullptr && controller->is_bool() && controller->get_bool()) return &owner;
    }
    return nullptr;
}

using Kinds = std::span<const jobs::JobKind* const>;

const jobs::JobKind* kind_of(std::string_view controller_name, Kinds kinds) {
    for (const jobs::JobKind* kind : kinds)
        if (kind->controller_name() == controller_name) return kind;
    return nullptr;
}

/// The replica that the labels name; nothing if they are not those of a replica of this kind.
/// mpi-operator's pods (v0.7, pkg/controller/mpi_job_controller.go, newWorker, workerSelector) have
/// no type but a role. The index of its workers and ours is one more than the number in their name
/// if the launcher is a worker too.
std::optional<SlotId> slot_of(const jobs::JobKind& kind, const json::value* labels,
                              std::string_view job_name, std::string_view name) {
    std::string type = text(child(labels, jobs::labels::kReplicaType));
    std::string index = text(child(labels, jobs::labels::kReplicaIndex));
    const bool by_role = type.empty();
    if (by_role) type = text(child(labels, jobs::labels::kJobRole));
    for (std::size_t at = 0; at < kind.replica_types.size(); ++at) {
        const jobs::ReplicaType& known = kind.replica_types[at];
        if (known.lower() != type) continue;
        SlotId slot{.type = static_cast<std::uint8_t>(at), .index = 0};
        if (index.empty() && !known.numbered) return slot;
        if ((by_role || kind.labels_ranks) && known.numbered)
            if (const std::string before = fmt::format("{}-{}-", job_name, type);
                name.starts_with(before))
                index = name.substr(before.size());
        slot.index = parse_number<std::int32_t>(index).value_or(-1);
        if (slot.index < 0 || slot.index >= jobs::kMaxReplicas) return std::nullopt;
        return slot;
    }
    return std::nullopt;
}

/// The name of jobs::default_container() without decoding the pod.
std::string default_container_name(const jobs::JobKind& kind, const json::value& object) {
    const json::array& containers = list(at(object, {"spec", "containers"}));
    for (const json::value& container : containers)
        if (std::string name = text(child(&container, "name")); name == kind.container_name)
            return name;
    return containers.empty() ? kind.container_name : text(child(&containers.front(), "name"));
}

PodPhase phase_of(std::string_view phase) {
    if (phase == "Running") return PodPhase::kRunning;
    if (phase == "Succeeded") return PodPhase::kSucceeded;
    if (phase == "Failed") return PodPhase::kFailed;
    if (phase == "Unknown") return PodPhase::kUnknown;
    return PodPhase::kPending;
}

/// Reads how often the default container ended, and its last exit code.
void read_exits(const json::value& status, PodRecord& pod) {
    pod.exits = number(child(&status, "restartCount"));
    if (const json::value* ended = at(status, {"state", "terminated"})) {
        ++pod.exits;
        pod.exit_code = number(child(ended, "exitCode"));
        pod.final_exit_code = pod.exit_code;
    } else if (const json::value* last = at(status, {"lastState", "terminated"})) {
        pod.exit_code = number(child(last, "exitCode"));
    }
}

/// Upstream counts an exit code as such an end, too (dlrover/python/common/constants.py, ExitCode).
bool ended_for_memory(const json::value& container_status) {
    constexpr std::int32_t kOutOfMemory = 247;
    const json::value* ended = at(container_status, {"state", "terminated"});
    return ended != nullptr && (text(child(ended, "reason")) == "OOMKilled" ||
                                number(child(ended, "exitCode")) == kOutOfMemory);
}

/// The limit of a container, else its request, else 0.
std::int64_t memory_of(const json::value& pod, std::string_view container) {
    for (const json::value& one : list(at(pod, {"spec", "containers"}))) {
        if (text(child(&one, "name")) != container) continue;
        for (const std::string_view part : {"limits", "requests"})
            if (const json::value* amount = at(one, {"resources", part, "memory"}))
                if (const auto quantity = kube::Quantity::parse(*amount))
                    return std::max<std::int64_t>(quantity->ceil_units(), 0);
    }
    return 0;
}

// Statuses and annotations can be written by others, too. Beyond any real count they count as the
// most, so that sums of them fit.
constexpr std::int32_t kMostOfPod = 50'000;
constexpr std::int32_t kMostOfJob = 1'000'000;

std::int32_t restarts_in_place(const json::value* status) {
    std::int32_t sum = 0;
    for (std::string_view kind : {"initContainerStatuses", "containerStatuses"})
        for (const json::value& container : list(child(status, kind)))
            sum = std::clamp(number(child(&container, "restartCount")), 0, kMostOfPod - sum) + sum;
    return sum;
}

bool is_ready(const json::value* status) {
    for (const json::value& condition : list(child(status, "conditions")))
        if (text(child(&condition, "type")) == "Ready")
            return text(child(&condition, "status")) == "True";
    return false;
}

std::int32_t annotated_number(const json::value& object, std::string_view key,
                              std::int32_t most = kMostOfPod) {
    const std::string written = text(at(object, {"metadata", "annotations", key}));
    return std::clamp(parse_number<std::int32_t>(written).value_or(0), 0, most);
}

std::int32_t rank_of(const json::value& object, SlotId slot) {
    const std::string written =
        text(at(object, {"metadata", "annotations", jobs::annotations::kRank}));
    return parse_number<std::int32_t>(written).value_or(slot.index);
}

std::optional<WallTime> time_at(const json::value& object,
                                std::initializer_list<std::string_view> path) {
    return kube::parse_time(text(at(object, path)));
}

/// The time of a deletion's request: the timestamp of a deletion is when its grace period ends.
std::optional<WallTime> asked_to_go(const json::value& object) {
    const auto last = time_at(object, {"metadata", "deletionTimestamp"});
    if (!last) return std::nullopt;
    const std::int32_t grace = number(at(object, {"metadata", "deletionGracePeriodSeconds"}));
    return *last - std::chrono::seconds(std::max(grace, 0));
}

/// An evicted pod has no statuses of its containers, but conditions that changed with its end.
std::optional<WallTime> end_of(const json::value& object, const PodRecord& pod) {
    if (!pod.ended()) return asked_to_go(object);
    std::optional<WallTime> last;
    for (std::string_view kind : {"initContainerStatuses", "containerStatuses"})
        for (const json::value& container : list(at(object, {"status", kind})))
            last = std::max(last, time_at(container, {"state", "terminated", "finishedAt"}));
    if (last) return last;
    for (const json::value& condition : list(at(object, {"status", "conditions"})))
        last = std::max(last, time_at(condition, {"lastTransitionTime"}));
    return last;
}

/// The condition that says why the pod is not scheduled, if that is the reason.
const json::value* not_scheduled(const json::value* status, std::string_view reason) {
    for (const json::value& condition : list(child(status, "conditions")))
        if (text(child(&condition, "type")) == "PodScheduled")
            return text(child(&condition, "status")) == "False" &&
                           text(child(&condition, "reason")) == reason
                       ? &condition
                       : nullptr;
    return nullptr;
}

/// The condition by which a scheduler says that no node takes the pod. That it waits at a gate is no
/// refusal.
const json::value* refusal_of(const json::value* status) {
    return not_scheduled(status, "Unschedulable");
}

/// The condition's time is that of its status, which is "False" at a gate as it is after the first
/// refusal: the refusal began when it was seen to follow the gate.
WallTime refused_since(const json::value& refusal, const PodRecord& pod, const PodRecord* before,
                       WallTime now) {
    const WallTime told = time_at(refusal, {"lastTransitionTime"}).value_or(pod.created);
    if (before == nullptr || before->uid != pod.uid) return told;
    if (before->gated) return std::max(told, now);
    const bool known = before->problem && before->problem->refused_since;
    return known ? std::max(told, *before->problem->refused_since) : told;
}

/// In a large cluster a scheduler has a word for every sort of node.
constexpr std::size_t kLongestRefusal = 1024;

std::shared_ptr<const PodProblem> problem_of_refusal(const json::value& refusal,
                                                     const PodRecord& pod, const PodRecord* before,
                                                     WallTime now) {
    const std::string words = text(child(&refusal, "message"));
    std::string message = fmt::format("Error pod {} condition message: ", pod.name);
    const auto words_at = static_cast<std::uint16_t>(message.size());
    message += cut_utf8(words, kLongestRefusal);
    return std::make_shared<const PodProblem>(
        PodProblem{.reason = "Unschedulable",
                   .message = std::move(message),
                   .refused_since = refused_since(refusal, pod, before, now),
                   .words_at = words_at});
}

/// What upstream reports for an abnormal pod: container statuses if there are any, else those of
/// the init containers, else the newest condition (pkg/core/pod.go, GetAbnormalPods' callers).
std::shared_ptr<const PodProblem> problem_of(const json::value& object, const PodRecord& pod,
                                             const PodRecord* before, WallTime now) {
    if (pod.deleting || pod.ended()) return nullptr;
    const auto found = [](std::string reason, std::string message) {
        return std::make_shared<const PodProblem>(
            PodProblem{std::move(reason), std::move(message)});
    };
    const json::value* status = child(&object, "status");
    const json::array* containers = &list(child(status, "containerStatuses"));
    if (containers->empty()) containers = &list(child(status, "initContainerStatuses"));
    for (const json::value& container : *containers) {
        const std::string name = text(child(&container, "name"));
        const json::value* ended = at(container, {"state", "terminated"});
        if (ended != nullptr && number(child(ended, "exitCode")) != 0) {
            return found(
                text(child(ended, "reason")),
                fmt::format("Error pod {} container {} exitCode: {} terminated message: {}",
                            pod.name, name, number(child(ended, "exitCode")),
                            text(child(ended, "message"))));
        }
        const std::string message = text(at(container, {"state", "waiting", "message"}));
        if (!message.empty())
            return found(text(at(container, {"state", "waiting", "reason"})),
                         fmt::format("Error pod {} container {} waiting message: {}", pod.name,
                                     name, message));
    }
    if (!containers->empty()) return nullptr;
    if (const json::value* refusal = refusal_of(status))
        return problem_of_refusal(*refusal, pod, before, now);
    const json::value* newest = nullptr;
    std::string newest_time;
    for (const json::value& condition : list(child(status, "conditions"))) {
        std::string time = text(child(&condition, "lastTransitionTime"));
        if (newest != nullptr && time < newest_time) continue;
        newest = &condition;
        newest_time = std::move(time);
    }
    if (newest == nullptr || text(child(newest, "status")) == "True") return nullptr;
    const std::string message = text(child(newest, "message"));
    if (message.empty()) return nullptr;
    return found(text(child(newest, "reason")),
                 fmt::format("Error pod {} condition message: {}", pod.name, message));
}

/// Upstream's rule: absent and null are ours, and so is our name; everything else is foreign, even
/// "" (pkg/controller.v1/common/util, TestManagedByExternalController).
bool is_foreign(const jobs::JobKind& kind, const json::value* managed_by) {
    if (managed_by == nullptr || managed_by->is_null()) return false;
    const std::string name = text(managed_by);
    return name.empty() || !jobs::is_ours(kind, name);
}

bool is_set(const json::value* value) { return value != nullptr && !value->is_null(); }

void read_finalizers(const json::value& object, JobRecord& job) {
    const json::value* finalizers = at(object, {"metadata", "finalizers"});
    if (finalizers == nullptr || !finalizers->is_array()) return;
    for (const json::value& finalizer : finalizers->get_array()) {
        job.dependents_go_first |= text(&finalizer) == "foregroundDeletion";
        job.dependents_stay |= text(&finalizer) == "orphan";
    }
}

std::string name_of_replica(const jobs::JobKind& kind, const std::string& job_name, SlotId slot) {
    return jobs::replica_name(kind, job_name, {kind.replica_types[slot.type].name, slot.index});
}

/// Whether an earlier operator let such an owner make the replica's pod.
bool is_batch_job_of(const jobs::JobKind& kind, const std::string& job_name, SlotId slot,
                     const json::value& owner) {
    return kind.replica_types[slot.type].had_batch_job && text(child(&owner, "kind")) == "Job" &&
           text(child(&owner, "apiVersion")).starts_with("batch/") &&
           text(child(&owner, "name")) == name_of_replica(kind, job_name, slot);
}

enum class Credentials : std::uint8_t {
    kNone,        ///< it is not a replica of a job
    kReplica,     ///< a job's, or without a controller
    kOfBatchJob,  ///< the replica's batch Job controls it, so that it can't be claimed yet
};

Credentials read_identity(const json::value& object, std::string_view what, Kinds kinds,
                          DependentRecord& record) {
    record.namespace_ = text(at(object, {"metadata", "namespace"}));
    record.name = text(at(object, {"metadata", "name"}));
    record.uid = text(at(object, {"metadata", "uid"}));
    record.resource_version = text(at(object, {"metadata", "resourceVersion"}));
    record.created = time_at(object, {"metadata", "creationTimestamp"}).value_or(WallTime{});
    record.deleting = is_set(at(object, {"metadata", "deletionTimestamp"}));

    const json::value* labels = at(object, {"metadata", "labels"});
    const jobs::JobKind* kind = kind_of(text(child(labels, jobs::labels::kOperatorName)), kinds);
    if (kind == nullptr) return Credentials::kNone;
    const std::string job_name = text(child(labels, jobs::labels::kJobName));
    const std::optional<SlotId> slot = slot_of(*kind, labels, job_name, record.name);
    const json::value* owner = controller_of(object);
    record.slot = slot.value_or(SlotId{});
    record.owner = {.kind = kind, .name = job_name, .uid = JobUid()};
    const bool named = slot && !job_name.empty();
    if (owner != nullptr) {
        if (named && is_batch_job_of(*kind, job_name, *slot, *owner))
            return Credentials::kOfBatchJob;
        if (text(child(owner, "kind")) != kind->resource.kind) return Credentials::kNone;
        record.owner.name = text(child(owner, "name"));
        record.owner.uid = JobUid(text(child(owner, "uid")));
        record.label_mismatch = !slot || job_name != record.owner.name;
        return Credentials::kReplica;
    }
    if (named) return Credentials::kReplica;
    log::debug("an object with the operator's label is not a replica of a job",
               {{"kind", what}, {"namespace", record.namespace_}, {"name", record.name}});
    return Credentials::kNone;
}

}  // namespace

std::optional<PodPtr> project_pod(const json::value& object, Kinds kinds, const PodRecord* before,
                                  WallTime now) {
    auto pod = std::make_shared<PodRecord>();
    const Credentials identity = read_identity(object, "Pod", kinds, *pod);
    if (identity == Credentials::kNone) return std::nullopt;
    pod->of_batch_job = identity == Credentials::kOfBatchJob;
    const jobs::JobKind& kind = *pod->owner.kind;
    const json::value* status = child(&object, "status");
    pod->phase = phase_of(text(child(status, "phase")));
    pod->ready = (kind.starts_after || kind.rising_ids) && is_ready(status);
    pod->rank = rank_of(object, pod->slot);
    pod->named_as_replica = pod->name == name_of_replica(kind, pod->owner.name, pod->slot);
    const std::string main = default_container_name(kind, object);
    for (const json::value& container : list(child(status, "containerStatuses")))
        if (text(child(&container, "name")) == main) {
            read_exits(container, *pod);
            if (kind.rising_ids && pod->phase == PodPhase::kFailed && ended_for_memory(container))
                pod->ran_out_of = memory_of(object, main);
        }
    pod->node_restarts = restarts_in_place(status);
    // The generation is compared with that of the job: a smaller bound would make each new pod one of
    // an earlier generation.
    pod->restart_history = {
        .restarts = annotated_number(object, jobs::annotations::kRestarts),
        .generation = annotated_number(object, kube::kGenerationAnnotation, kMostOfJob),
        .in_a_row = annotated_number(object, jobs::annotations::kInARow)};
    pod->ended_at = end_of(object, *pod);
    pod->gated = not_scheduled(status, "SchedulingGated") != nullptr;
    pod->problem = problem_of(object, *pod, before, now);
    if (!kind.owned_types.empty())
        if (std::string address = text(child(status, "podIP")); !address.empty())
            pod->address = std::make_shared<const std::string>(std::move(address));
    return pod;
}

std::optional<ServicePtr> project_service(const json::value& object, Kinds kinds) {
    auto service = std::make_shared<ServiceRecord>();
    if (read_identity(object, "Service", kinds, *service) != Credentials::kReplica)
        return std::nullopt;
    service->in_a_row = annotated_number(object, jobs::annotations::kInARow);
    return service;
}

kube::ObjectMeta metadata_of(const json::value& object) {
    kube::ObjectMeta metadata;
    std::vector<Cause> ignored;  // the server made it
    if (const json::value* found = at(object, {"metadata"}))
        kube::decode_into(*found, metadata, "metadata", ignored);
    return metadata;
}

namespace {

void bound(std::optional<std::int32_t>& count) {
    if (count) count = std::clamp(*count, 0, kMostOfJob);
}
void bound_counts(jobs::JobStatus& status) {
    for (auto& [type, counts] : status.replica_statuses)
        for (std::optional<std::int32_t>* count :
             {&counts.active, &counts.succeeded, &counts.failed, &counts.restarts})
            bound(*count);
    bound(status.restart_generation);
    bound(status.restarts_in_a_row);
    if (!status.plan) return;
    for (auto& [type, asked] : status.plan->replicas)
        if (asked.replicas) *asked.replicas = std::clamp(*asked.replicas, 0, jobs::kMaxReplicas);
}

/// The facts of a job, and what the manifest has of them.
FactsPtr make_facts(const jobs::Job& job, const std::map<std::string, std::int32_t>& written) {
    auto facts = std::make_shared<JobFacts>(facts_of(job));
    for (TypeFacts& type : facts->types) {
        const auto found = written.find(facts->name_of(type.type));
        if (found != written.end()) type.written = found->second;
    }
    return facts;
}

/// What plans ask of the job beyond this manifest; null for nothing.
std::shared_ptr<const Asked> asked_beyond(const std::map<std::string, std::int32_t>& written,
                                          const jobs::JobStatus& status) {
    if (!status.plan || status.plan->replicas.empty()) return nullptr;
    Asked asked = jobs::in_effect(*status.plan, written);
    return asked.empty() ? nullptr : std::make_shared<const Asked>(std::move(asked));
}

/// Reads the spec; with warnings if the job has not begun.
std::shared_ptr<const jobs::Job> read_spec(const jobs::JobKind& kind, const json::value& object,
                                           const jobs::Platform& platform, bool begun,
                                           const std::map<std::string, std::int32_t>& written,
                                           JobRecord& record) {
    if (!begun) {
        jobs::Review review = jobs::review(kind, object, platform);
        record.warnings = std::move(review.warnings);
        if (review.problems.empty()) {
            record.facts = make_facts(review.job, written);
            return std::make_shared<const jobs::Job>(std::move(review.job));
        }
    }
    Result<jobs::Job> job = jobs::load(kind, object, platform);
    if (!job) {
        record.problem = std::make_shared<const Error>(std::move(job.error()));
        return nullptr;
    }
    record.facts = make_facts(*job, written);
    return std::make_shared<const jobs::Job>(*std::move(job));
}

/// Annotations may change without a new generation.
bool restarts_as_before(const JobFacts& before, const json::value& object) {
    const std::string said =
        text(at(object, {"metadata", "annotations", jobs::annotations::kRestart}));
    return std::ranges::all_of(before.types, [&](const TypeFacts& type) {
        return type.restarts_all == jobs::restarts_all(before.kind->replica_types[type.type], said);
    });
}
bool waits_as_before(const JobFacts& before, const json::value& object) {
    return !before.pending || before.pending->annotations ==
                                  pending_annotations(*before.kind, [&](const std::string& name) {
                                      return text(at(object, {"metadata", "annotations", name}));
                                  });
}

bool tells_enough(const JobRecord* before, const JobRecord& now, const json::value& object) {
    return before != nullptr && before->uid == now.uid && now.generation > 0 &&
           before->generation == now.generation &&
           has_asked(*before, now.asked ? *now.asked : Asked()) &&
           (before->facts == nullptr || (restarts_as_before(*before->facts, object) &&
                                         waits_as_before(*before->facts, object)));
}

}  // namespace

ProjectedJob project_job(const jobs::JobKind& kind, const json::value& object,
                         const JobRecord* before, const jobs::Platform& platform) {
    auto record = std::make_shared<JobRecord>();
    record->kind = &kind;
    record->namespace_ = text(at(object, {"metadata", "namespace"}));
    record->name = text(at(object, {"metadata", "name"}));
    record->uid = JobUid(text(at(object, {"metadata", "uid"})));
    record->resource_version = text(at(object, {"metadata", "resourceVersion"}));
    if (const json::value* generation = at(object, {"metadata", "generation"}))
        record->generation = generation->is_number() ? generation->to_number<std::int64_t>() : 0;
    record->deleting = is_set(at(object, {"metadata", "deletionTimestamp"}));
    if (record->deleting) read_finalizers(object, *record);
    record->managed_elsewhere = is_foreign(kind, at(object, {"spec", "runPolicy", "managedBy"}));
    record->large = kube::text_size(object, kWorthSideThread) >= kWorthSideThread;

    jobs::JobStatus status;
    if (const json::value* written = at(object, {"status"}))
        status = jobs::read_status(kind, *written);
    bound_counts(status);
    const bool begun = !status.start_time.empty();
    record->status = PackedStatus(status);
    std::map<std::string, std::int32_t> written;
    if (kind.scale_plans) written = jobs::written_replicas(kind, object);
    record->asked = asked_beyond(written, status);
    if (tells_enough(before, *record, object)) {
        record->facts = before->facts;
        record->problem = before->problem;
        if (!begun) record->warnings = before->warnings;
        return {.record = std::move(record), .job = nullptr};
    }
    std::shared_ptr<const jobs::Job> job =
        record->asked ? read_spec(kind, jobs::with_asked(kind, object, *record->asked), platform,
                                  begun, written, *record)
                      : read_spec(kind, object, platform, begun, written, *record);
    return {.record = std::move(record), .job = std::move(job)};
}

bool has_asked(const JobRecord& job, const Asked& asked) {
    return job.asked ? *job.asked == asked : asked.empty();
}

kube::ObjectReference reference_to(const JobRecord& job) {
    return {.api_version = job.kind->resource.api_version(),
            .kind = job.kind->resource.kind,
            .namespace_ = job.namespace_,
            .name = job.name,
            .uid = job.uid.get(),
            .resource_version = job.resource_version,
            .field_path = {}};
}

std::vector<JobEvent> pod_news(const PodRecord* before, const PodRecord& after) {
    std::vector<JobEvent> news;
    const bool same = before != nullptr && before->uid == after.uid;
    if (after.exit_code && after.exits > (same ? before->exits : 0))
        news.push_back({kube::EventType::kNormal, "ExitedWithCode",
                        fmt::format("Pod: {}.{} exited with code {}", after.namespace_, after.name,
                                    *after.exit_code)});
    const bool known = same && before->problem && after.problem &&
                       before->problem->message == after.problem->message;
    if (after.problem && !known)
        news.push_back({kube::EventType::kWarning,
                        after.problem->reason.empty() ? "PodNotReady" : after.problem->reason,
                        after.problem->message});
    return news;
}

}  // namespace muster::operators
