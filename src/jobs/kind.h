#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobs/job.h"
#include "kube/core_objects.h"
#include "kube/pod.h"
#include "kube/resource_type.h"
#include "kube/schema.h"

namespace muster::jobs {

struct ReplicaType {
    std::string name;  ///< canonical: "Master"
    std::string lower() const;
};

/// One replica of a job.
struct ReplicaId {
    std::string type;  ///< canonical
    std::int32_t index = 0;

    friend auto operator<=>(const ReplicaId&, const ReplicaId&) = default;
};

/// How many pods of one replica type are in which state; `wanted` is spec.replicas.
struct ReplicaCounts {
    std::int32_t wanted = 0;
    std::int32_t active = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;
};
using CountsByType = std::map<std::string, ReplicaCounts>;

/// What the deciding replicas say about the job; restarts and failures are the engine's business.
enum class Outcome { kPending, kRunning, kSucceeded };

struct Verdict {
    Outcome outcome = Outcome::kPending;
    /// The condition's message, as upstream words it for this kind.
    std::string message;
};

/// A job kind as data and pure functions. Adding a framework is adding one file that builds one of
/// these, and naming it in registry.cc. The engine in operator/ knows no framework by name.
class JobKind {
  public:
    // --- names on the wire
    kube::ResourceType resource;
    std::string replicas_field;              ///< "pytorchReplicaSpecs"
    std::vector<ReplicaType> replica_types;  ///< in the order in which the engine visits them
    std::string container_name;              ///< the mandatory container
    std::string port_name;
    std::int32_t port = 0;
    std::string default_restart_policy;
    bool scale_subresource = false;
    bool status_selector = false;   ///< replicaStatuses carry the selector
    kube::Schema::Ptr spec_schema;  ///< of `.spec`

    // --- pure functions; all but `parse` get a defaulted job
    /// From JSON without defaults. Wrong types are kBadRequest with all causes.
    std::function<Result<Job>(const json::value&)> parse;
    /// Kind-specific defaults, after the common ones.
    std::function<void(Job&)> apply_defaults;
    /// Kind-specific rules on the job as written (before defaults); field paths from the root.
    std::function<std::vector<Cause>(const Job&)> validate;
    /// Warnings about deprecated or ineffective fields, as written.
    std::function<std::vector<std::string>(const Job&)> warnings;
    /// The variables of one replica, in upstream's order; appended after the user's own.
    std::function<Result<std::vector<kube::EnvVar>>(const Job&, const ReplicaId&)> environment;
    /// True for the pods that carry job-role=master.
    std::function<bool(const Job&, const ReplicaId&)> has_master_role;
    std::function<Verdict(const Job&, const CountsByType&)> verdict;

    /// "pytorchjob-controller": label value, event source.
    std::string controller_name() const;
    const ReplicaType* replica_type(std::string_view name) const;
};

/// All kinds, in the order of their names.
const std::vector<const JobKind*>& all_kinds();
/// By kind and apiVersion ("kubeflow.org/v1"); null when unknown.
const JobKind* find_kind(std::string_view api_version, std::string_view kind);

// --- what is the same for every kind

/// Common defaults (training-operator v1.9, pkg/apis/kubeflow.org/v1/defaulting_utils.go), then the
/// kind's own.
void apply_defaults(Job& job);

/// Everything that is wrong with a job as written: structure is checked by the schema, this checks
/// meaning. Field paths start at the root ("spec.pytorchReplicaSpecs.Master.replicas").
std::vector<Cause> validate(const Job& job);

/// JSON of one object through schema, parse and validate: all problems at once. On success the job
/// is defaulted.
Result<Job> load(const JobKind& kind, const json::value& object);

/// `<job>-<type>-<index>`, the name of a replica's pod and service.
std::string replica_name(const Job& job, const ReplicaId& replica);
/// The labels of a replica's pod (with the role) or service (without).
std::map<std::string, std::string> replica_labels(const Job& job, const ReplicaId& replica,
                                                  bool with_role);
/// Of all pods of a job.
std::map<std::string, std::string> job_labels(const Job& job);
kube::OwnerReference owner_reference(const Job& job);
kube::ObjectReference object_reference(const Job& job);

/// The pod of one replica as it will be created: template, labels, environment, restart policy.
Result<kube::Pod> build_pod(const Job& job, const ReplicaId& replica);
/// Its headless service.
Result<kube::Service> build_service(const Job& job, const ReplicaId& replica);

/// The CustomResourceDefinition of a kind.
json::value custom_resource_definition(const JobKind& kind);

namespace labels {
inline constexpr std::string_view kOperatorName = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kJobName = "training.kubeflow.org/job-name";
inline constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kJobRole = "training.kubeflow.org/job-role";
}  // namespace labels

}  // namespace muster::jobs
