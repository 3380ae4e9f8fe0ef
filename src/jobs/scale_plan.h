#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobs/kind.h"
#include "kube/objects/object_meta.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_type.h"
#include "kube/schema/schema.h"

namespace muster::jobs {

// ScalePlan, elastic.iml.github.io/v1alpha1: a change of the pods of an ElasticJob that a user or the
// job's master asks for (DLRover v0.4, go/elasticjob/api/v1alpha1/scaleplan_types.go; later versions
// have dropped it).
// Values and pure functions: what carries plans out is in operator/.

/// How many replicas of a type there should be, and what each of them requests.
struct ReplicaResources {
    std::optional<std::int32_t> replicas;  ///< unset: as many as now
    kube::ResourceList resource;
};
BOOST_DESCRIBE_STRUCT(ReplicaResources, (), (replicas, resource))

/// A pod, by its name or by type and id.
struct PlannedPod {
    std::string name;
    std::optional<std::int32_t> id;
    std::string type;
    std::optional<std::int32_t> rank_index;
    std::string service;
    kube::ResourceList resource;
};
BOOST_DESCRIBE_STRUCT(PlannedPod, (), (name, id, type, rank_index, service, resource))

struct ScalePlanSpec {
    std::string owner_job;
    std::map<std::string, ReplicaResources> replica_resource_specs;  ///< by replica type
    std::vector<PlannedPod> create_pods;
    std::vector<PlannedPod> remove_pods;
    std::vector<PlannedPod> migrate_pods;  ///< each is replaced, and goes once that is ready
    std::vector<std::string> ps_hosts;
    // Additions of ours:
    std::vector<ExcludedNode> excluded_nodes = {};
    /// Those that leave first when fewer are wanted; of the master's own plan all that there are.
    std::vector<PlannedPod> spare_pods = {};

    /// Whether it says nothing but which job it is about.
    bool asks_nothing() const {
        return replica_resource_specs.empty() && create_pods.empty() && remove_pods.empty() &&
               migrate_pods.empty() && excluded_nodes.empty() && spare_pods.empty();
    }
};
BOOST_DESCRIBE_STRUCT(ScalePlanSpec, (),
                      (owner_job, replica_resource_specs, create_pods, remove_pods, migrate_pods,
                       ps_hosts, excluded_nodes, spare_pods))

struct ScalePlanStatus {
    std::string create_time;
    std::string finish_time;
    std::string phase;  ///< Pending, Scaling, Succeeded, Failed
    // Additions of ours:
    std::string message;  ///< what it waits for, or why it was refused
    /// The generation of the plan that all this is about. Upstream's operator does not say it.
    std::optional<std::int64_t> observed_generation;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ScalePlanStatus, (),
                      (create_time, finish_time, phase, message, observed_generation, rest))

struct ScalePlan {
    kube::ObjectMeta metadata;
    ScalePlanSpec spec;
    ScalePlanStatus status;

    /// The job that it is about: `spec.ownerJob`, else the label of the job's name, of which older
    /// manifests have another one; "" if it has neither.
    std::string job_name() const;
    /// Whether a person wrote it. Without the label `scale-type` that is so, too.
    bool is_manual() const;
};
BOOST_DESCRIBE_STRUCT(ScalePlan, (), (metadata, spec, status))

namespace scale_labels {
inline constexpr std::string_view kType = "scale-type";
inline constexpr std::string_view kManual = "manual";
inline constexpr std::string_view kAuto = "auto";
inline constexpr std::string_view kJobName = "elasticjob.dlrover/name";
inline constexpr std::string_view kOldJobName = "elasticjob-name";
}  // namespace scale_labels

extern const kube::ResourceType kScalePlans;

/// The schema of a whole object.
kube::Schema::Ptr scale_plan_schema();
json::value scale_plan_definition();

/// A plan and what is wrong with it, as far as that shows without its job: fields of a wrong type,
/// unknown replica types, no job, nothing to do (but of a master: its plan begins so), a pod that is
/// not named, two changes of one pod, a node that can't be.
struct ScalePlanReview {
    ScalePlan plan;
    std::vector<Cause> problems;
    std::vector<Cause> warnings;
};
ScalePlanReview review_scale_plan(const json::value& object);

// --- the plan of a job's master

/// Its name: the master writes this one object for each wish, and the operator makes it.
std::string own_plan_name(std::string_view job_name);
/// As it is made, asking for nothing; owned by the job.
json::object own_plan_manifest(const Job& job);

// --- jobs that plans have changed

/// The numbers of replicas that a manifest has, by type: with the default where it has none, and
/// without the types that it lacks.
std::map<std::string, std::int32_t> written_replicas(const JobKind& kind,
                                                     const json::value& manifest);
/// What of `plan` counts beside a manifest that has these numbers of replicas now.
std::map<std::string, AskedReplicas> in_effect(const ExecutedPlan& plan,
                                               const std::map<std::string, std::int32_t>& written);
/// The manifest with what plans have asked for written into it, as if its user had edited it.
json::value with_asked(const JobKind& kind, const json::value& manifest,
                       const std::map<std::string, AskedReplicas>& asked);

// --- resources of single replicas

/// What single replicas may have of their own.
bool may_be_own(std::string_view resource);
/// These amounts of a container: its limit, else its request.
kube::ResourceList ownable_amounts(const kube::Container& container);
/// What of `own` counts beside a template that has these ownable amounts.
kube::ResourceList in_effect(const OwnResources& own, const kube::ResourceList& written);
/// `before` with these amounts, beside a template that has `written`. What is no longer in effect is not
/// in it.
OwnResources with_amounts(const OwnResources& before, const kube::ResourceList& amounts,
                          const kube::ResourceList& written);
/// Requests these amounts and no more, as upstream sets them
/// (dlrover/python/master/scaler/pod_scaler.py).
void set_amounts(kube::Container& container, const kube::ResourceList& amounts);

}  // namespace muster::jobs
