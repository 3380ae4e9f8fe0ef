#include <algorithm>
#include <boost/json/object.hpp>

#include "jobs/kind.h"
#include "kube/objects/codec.h"

// The second form is that of DLRover v0.6 (go/elasticjob/api/v1alpha1/elasticjob_types.go,
// pkg/common/api/v1/types.go): `phase`, and in `status` what the Kubeflow form has beside it.

namespace muster::jobs {
namespace {

constexpr std::string_view kPhase = "phase";
constexpr std::string_view kCopy = "status";

/// Of the states that are true at once, the one that people are told.
std::string phase_of(const JobStatus& status) {
    for (const std::string_view state :
         {"Succeeded", "Failed", "Suspended", "Restarting", "Running", "Pending", "Created"})
        if (status.is(state)) return std::string(state);
    return {};
}

JobStatus decoded(const json::value& written) {
    JobStatus status;
    std::vector<Cause> ignored;
    kube::decode_into(written, status, "status", ignored);
    return status;
}

bool says_something(const JobStatus& status) {
    return !status.conditions.empty() || !status.start_time.empty();
}

/// `wanted` less those that run or have ended are pending: upstream counts pods, and makes all that
/// are wanted at once.
json::object upstreams_counts(const ReplicaStatus& counts, std::int32_t wanted) {
    const std::int32_t active = counts.active.value_or(0);
    const std::int32_t succeeded = counts.succeeded.value_or(0);
    const std::int32_t failed = counts.failed.value_or(0);
    return {{"initial", 0},
            {"pending", std::max(wanted - active - succeeded - failed, 0)},
            {"active", active},
            {"succeeded", succeeded},
            {"failed", failed}};
}

json::object upstreams_copy(const JobKind& kind, const json::object& written,
                            const JobStatus& status,
                            const std::map<std::string, std::int32_t>& wanted) {
    json::object copy;
    for (const std::string_view field :
         {"conditions", "startTime", "completionTime", "lastReconcileTime"})
        if (const json::value* value = written.if_contains(field)) copy[field] = *value;
    json::object replicas;
    for (const auto& [type, counts] : status.replica_statuses) {
        const auto number = wanted.find(type);
        json::object one = upstreams_counts(counts, number == wanted.end() ? 0 : number->second);
        if (!counts.selector.empty()) {
            json::object labels{{labels::kOperatorName, kind.controller_name()},
                                {labels::kReplicaType, type}};
            one["labelSelector"] = {{"matchLabels", std::move(labels)}};
        }
        replicas[type] = std::move(one);
    }
    if (!replicas.empty()) copy["replicaStatuses"] = std::move(replicas);
    return copy;
}

}  // namespace

JobStatus read_status(const JobKind& kind, const json::value& status) {
    JobStatus read = decoded(status);
    if (kind.status_form == StatusForm::kKubeflow) return read;
    const json::value* copy = read.rest.if_contains(kCopy);
    if (!says_something(read) && copy != nullptr && copy->is_object()) {
        JobStatus upstreams = decoded(*copy);
        upstreams.rest.clear();
        if (says_something(upstreams)) return upstreams;
    }
    // Both are written from the rest.
    read.rest.erase(kPhase);
    read.rest.erase(kCopy);
    return read;
}

json::value write_status(const JobKind& kind, const JobStatus& status,
                         const std::map<std::string, std::int32_t>& wanted) {
    json::value written = kube::encode(status);
    if (kind.status_form == StatusForm::kKubeflow || !written.is_object()) return written;
    json::object& fields = written.get_object();
    json::object copy = upstreams_copy(kind, fields, status, wanted);
    const std::string phase = phase_of(status);
    if (!phase.empty()) fields[kPhase] = phase;
    if (!copy.empty()) fields[kCopy] = std::move(copy);
    return written;
}

}  // namespace muster::jobs
