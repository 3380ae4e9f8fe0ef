#include "operator/internal/records.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <charconv>

#include "base/log.h"
#include "kube/codec.h"

namespace muster::operators {
namespace {

// Pods change often and few of their fields matter here, so they are read in place rather than
// decoded whole.

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

std::optional<OwnerId> controller_of(const json::value& object) {
    for (const json::value& owner : list(at(object, {"metadata", "ownerReferences"}))) {
        const json::value* controller = child(&owner, "controller");
        if (controller == nullptr || !controller->is_bool() || !controller->get_bool()) continue;
        return OwnerId{.kind = text(child(&owner, "kind")),
                       .name = text(child(&owner, "name")),
                       .uid = JobUid(text(child(&owner, "uid")))};
    }
    return std::nullopt;
}

const jobs::JobKind* kind_of(std::string_view controller_name) {
    for (const jobs::JobKind* kind : jobs::all_kinds())
        if (kind->controller_name() == controller_name) return kind;
    return nullptr;
}

/// The replica that the labels name; nothing when they are no replica's of this kind.
std::optional<jobs::ReplicaId> replica_of(const jobs::JobKind& kind, const json::value& object) {
    const json::value* labels = at(object, {"metadata", "labels"});
    const std::string type = text(child(labels, jobs::labels::kReplicaType));
    const std::string index = text(child(labels, jobs::labels::kReplicaIndex));
    for (const jobs::ReplicaType& known : kind.replica_types) {
        if (known.lower() != type) continue;
        jobs::ReplicaId replica{known.name, 0};
        if (index.empty() && !known.numbered) return replica;
        const char* end = index.data() + index.size();
        auto [stop, error] = std::from_chars(index.data(), end, replica.index);
        if (error != std::errc() || stop != end || replica.index < 0) return std::nullopt;
        return replica;
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

/// How the default container stands.
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

/// What upstream reports as an abnormal pod: container statuses where there are any, else those of
/// the init containers, else the newest condition (pkg/core/pod.go, GetAbnormalPods' callers).
void read_trouble(const json::value& object, PodRecord& pod) {
    if (pod.deleting || pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed) return;
    const json::value* status = child(&object, "status");
    const json::array* containers = &list(child(status, "containerStatuses"));
    if (containers->empty()) containers = &list(child(status, "initContainerStatuses"));
    for (const json::value& container : *containers) {
        const std::string name = text(child(&container, "name"));
        const json::value* ended = at(container, {"state", "terminated"});
        if (ended != nullptr && number(child(ended, "exitCode")) != 0) {
            pod.trouble_reason = text(child(ended, "reason"));
            pod.trouble_message = fmt::format(
                "Error pod {} container {} exitCode: {} terminated message: {}", pod.name, name,
                number(child(ended, "exitCode")), text(child(ended, "message")));
            return;
        }
        const std::string message = text(at(container, {"state", "waiting", "message"}));
        if (!message.empty()) {
            pod.trouble_reason = text(at(container, {"state", "waiting", "reason"}));
            pod.trouble_message = fmt::format("Error pod {} container {} waiting message: {}",
                                              pod.name, name, message);
            return;
        }
    }
    if (!containers->empty()) return;
    const json::value* newest = nullptr;
    std::string newest_time;
    for (const json::value& condition : list(child(status, "conditions"))) {
        std::string time = text(child(&condition, "lastTransitionTime"));
        if (newest != nullptr && time < newest_time) continue;
        newest = &condition;
        newest_time = std::move(time);
    }
    if (newest == nullptr || text(child(newest, "status")) == "True") return;
    const std::string message = text(child(newest, "message"));
    if (message.empty()) return;
    pod.trouble_reason = text(child(newest, "reason"));
    pod.trouble_message = fmt::format("Error pod {} condition message: {}", pod.name, message);
}

/// Upstream's rule: absent and null are ours, and so is our name; all else is foreign, "" too
/// (pkg/controller.v1/common/util, TestManagedByExternalController).
bool is_foreign(const json::value* managed_by) {
    return managed_by != nullptr && !managed_by->is_null() &&
           text(managed_by) != "kubeflow.org/training-operator";
}

template <class Record>
bool read_identity(const json::value& object, std::string_view what, const jobs::JobKind*& kind,
                   Record& record) {
    record.namespace_ = text(at(object, {"metadata", "namespace"}));
    record.name = text(at(object, {"metadata", "name"}));
    record.uid = text(at(object, {"metadata", "uid"}));
    const json::value* deletion = at(object, {"metadata", "deletionTimestamp"});
    record.deleting = deletion != nullptr && !deletion->is_null();

    kind = kind_of(text(at(object, {"metadata", "labels", jobs::labels::kOperatorName})));
    std::optional<OwnerId> owner = controller_of(object);
    std::optional<jobs::ReplicaId> replica;
    if (kind != nullptr) replica = replica_of(*kind, object);
    if (kind == nullptr || !owner || owner->kind != kind->resource.kind || !replica) {
        log::debug("an object with the operator's label is no replica of a job",
                   {{"kind", what}, {"namespace", record.namespace_}, {"name", record.name}});
        return false;
    }
    record.owner = *std::move(owner);
    record.replica = *std::move(replica);
    return true;
}

}  // namespace

std::optional<PodPtr> project_pod(const json::value& object) {
    auto pod = std::make_shared<PodRecord>();
    const jobs::JobKind* kind = nullptr;
    if (!read_identity(object, "Pod", kind, *pod)) return std::nullopt;
    pod->phase = phase_of(text(at(object, {"status", "phase"})));
    const std::string main = default_container_name(*kind, object);
    for (const json::value& container : list(at(object, {"status", "containerStatuses"})))
        if (text(child(&container, "name")) == main) read_exits(container, *pod);
    read_trouble(object, *pod);
    return pod;
}

std::optional<ServicePtr> project_service(const json::value& object) {
    auto service = std::make_shared<ServiceRecord>();
    const jobs::JobKind* kind = nullptr;
    if (!read_identity(object, "Service", kind, *service)) return std::nullopt;
    return service;
}

kube::ObjectMeta metadata_of(const json::value& object) {
    kube::ObjectMeta metadata;
    std::vector<Cause> ignored;  // the server made it
    if (const json::value* found = at(object, {"metadata"}))
        kube::decode_into(*found, metadata, "metadata", ignored);
    return metadata;
}

std::optional<JobPtr> project_job(const jobs::JobKind& kind, const json::value& object) {
    auto record = std::make_shared<JobRecord>();
    record->kind = &kind;
    record->metadata = metadata_of(object);
    std::vector<Cause> ignored;  // load() reports what is wrong with the rest
    if (const json::value* status = at(object, {"status"}))
        kube::decode_into(*status, record->status, "status", ignored);
    record->managed_elsewhere = is_foreign(at(object, {"spec", "runPolicy", "managedBy"}));
    if (record->status.start_time.empty()) {
        jobs::Review review = jobs::review(kind, object);
        record->warnings = std::move(review.warnings);
        if (review.problems.empty()) {
            record->job = std::move(review.job);
            return record;
        }
    }
    record->job = jobs::load(kind, object);
    return record;
}

kube::ObjectReference reference_to(const JobRecord& job) {
    return {.api_version = job.kind->resource.api_version(),
            .kind = job.kind->resource.kind,
            .namespace_ = job.metadata.namespace_,
            .name = job.metadata.name,
            .uid = job.metadata.uid,
            .resource_version = job.metadata.resource_version,
            .field_path = {}};
}

std::vector<JobEvent> pod_news(const PodRecord* before, const PodRecord& after) {
    std::vector<JobEvent> news;
    const bool same = before != nullptr && before->uid == after.uid;
    if (after.exit_code && after.exits > (same ? before->exits : 0))
        news.push_back({kube::EventType::kNormal, "ExitedWithCode",
                        fmt::format("Pod: {}.{} exited with code {}", after.namespace_, after.name,
                                    *after.exit_code)});
    if (!after.trouble_message.empty() &&
        (!same || before->trouble_message != after.trouble_message))
        news.push_back({kube::EventType::kWarning,
                        after.trouble_reason.empty() ? "PodNotReady" : after.trouble_reason,
                        after.trouble_message});
    return news;
}

}  // namespace muster::operators
