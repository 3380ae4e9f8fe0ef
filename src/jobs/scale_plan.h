#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
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
};
BOOST_DESCRIBE_STRUCT(ScalePlanSpec, (),
                      (owner_job, replica_resource_specs, create_pods, remove_pods, migrate_pods,
                       ps_hosts))

struct ScalePlanStatus {
    std::string create_time;
    std::string finish_time;
    std::string phase;    ///< Pending, Scaling, Succeeded, Failed
    std::string message;  ///< an addition of ours: why it waits or was refused
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ScalePlanStatus, (), (create_time, finish_time, phase, message, rest))

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
/// unknown replica types, no job, nothing to do, a pod that is not named, two changes of one pod.
struct ScalePlanReview {
    ScalePlan plan;
    std::vector<Cause> problems;
    std::vector<Cause> warnings;
};
ScalePlanReview review_scale_plan(const json::value& object);

}  // namespace muster::jobs
