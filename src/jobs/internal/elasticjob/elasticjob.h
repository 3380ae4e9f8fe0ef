#pragma once

#include <array>
#include <boost/describe/class.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// ElasticJob, elastic.iml.github.io/v1alpha1 (DLRover v0.6: go/elasticjob/api/v1alpha1/
// elasticjob_types.go, go/elasticjob/pkg/controllers, dlrover/python/master/scaler/pod_scaler.py).
// Issue numbers are of intelligent-machine-learning/dlrover.

inline constexpr std::string_view kElasticMaster = "dlrover-master";
inline constexpr std::string_view kElasticPs = "ps";
inline constexpr std::string_view kElasticChief = "chief";
inline constexpr std::string_view kElasticWorker = "worker";
inline constexpr std::string_view kElasticEvaluator = "evaluator";
/// Where they are in JobKind::replica_types: in this order their pods are made.
enum class ElasticType : std::uint8_t { kMaster, kPs, kChief, kWorker, kEvaluator };

/// A replica type of an ElasticJob; the common part is moved to Job::replicas.
struct ElasticReplicaSpec {
    std::optional<std::int32_t> replicas;
    kube::PodTemplateSpec template_;
    std::string restart_policy;
    std::optional<std::int32_t> restart_count;
    std::optional<bool> auto_scale;
    std::optional<std::int32_t> restart_timeout;
    std::string priority;         ///< "high", "low", a fraction from 0 to 1
    std::string batch_scheduler;  ///< "default", "volcano"; "BatchScheduler" on the wire
    std::string critical_nodes;   ///< "all", "none", "0:3,2:1"
};
BOOST_DESCRIBE_STRUCT(ElasticReplicaSpec, (),
                      (replicas, template_, restart_policy, restart_count, auto_scale,
                       restart_timeout, priority, batch_scheduler, critical_nodes))

constexpr std::string_view json_name(const ElasticReplicaSpec*, std::string_view member) {
    return member == "batch_scheduler" ? "BatchScheduler" : "";
}

struct ElasticJobSpec {
    RunPolicy run_policy;  ///< an addition of ours
    std::string distribution_strategy;
    kube::ResourceList resource_limits;
    std::string optimize_mode;
    std::string brain_service;
    std::map<std::string, ElasticReplicaSpec> replica_specs;
    std::map<std::string, kube::EnvVar> envs;
    std::optional<bool> suspend;
    /// Up to DLRover v0.4; its definition has both to this day.
    std::optional<bool> enable_elastic_scheduling;
    std::optional<bool> enable_dynamic_sharding;
    /// Not from the manifest: the part of TF_CONFIG that all replicas share, made with the defaults.
    std::string tf_cluster;
};
BOOST_DESCRIBE_STRUCT(ElasticJobSpec, (),
                      (run_policy, distribution_strategy, resource_limits, optimize_mode,
                       brain_service, replica_specs, envs, suspend, enable_elastic_scheduling,
                       enable_dynamic_sharding))

const ElasticJobSpec& elastic_spec(const Job& job);
ElasticJobSpec& elastic_spec(Job& job);
/// What the manifest has of a type, however it spells it; null for a type that it does not have.
const ElasticReplicaSpec* elastic_replica(const Job& job, std::string_view type);
/// The same, and for a chief that is made of the first worker that of the workers.
const ElasticReplicaSpec* elastic_origin(const Job& job, std::string_view type);

enum class ElasticStrategy : std::uint8_t {
    kAllreduce,        ///< PyTorch and others that meet at a rendezvous
    kParameterServer,  ///< TensorFlow with TF_CONFIG
    kCustom,           ///< the replicas know how they find each other
    kLocal,            ///< one worker, which is not distributed
};
inline constexpr std::array<std::string_view, 4> kElasticStrategies{
    "AllreduceStrategy", "ParameterServerStrategy", "CustomStrategy", "Local"};
/// The written one; without one, or with one that is not known, it follows from the replicas.
ElasticStrategy strategy_of(const Job& job);

/// What a type's `criticalNodes` says; the job can't do without a critical replica.
enum class CriticalNodes : std::uint8_t { kAll, kNone };
CriticalNodes critical_nodes_of(const Job& job, std::string_view type);

// --- variables, labels, pods

Result<std::vector<Variable>> elastic_environment(const Job& job, const ReplicaId& replica);
/// Of a job with parameter servers; "" for others.
std::string tf_cluster_of(const Job& job);
void finish_elastic_pod(const Job& job, const ReplicaId& replica, kube::Pod& pod);

// --- parameter servers

/// Gives a pod of a job with parameter servers what its programs ask the master with, and lets a
/// parameter server attend there.
void connect_to_master(const Job& job, const ReplicaId& replica, kube::Pod& pod);
/// The Services of the ranks of parameter servers, and in a job with that strategy of all its replicas.
std::vector<OwnedObject> rank_services(const Job& job, const std::vector<SeenPod>& seen);

// --- the job's master

std::string elastic_master_service(std::string_view job_name);
/// "elasticjob-demo-dlrover-master.ml.svc:50001".
std::string elastic_master_address(const Job& job);
/// Whether the template's own program is the master (annotation `muster.dev/master: image`).
bool has_own_master(const Job& job);
/// The types whose programs are agents, or call them.
std::vector<std::string> agent_types(const Job& job);
std::vector<OwnedObject> elastic_owned_objects(const Job& job, const std::vector<SeenPod>& seen);

// --- rules

std::vector<Cause> elastic_rules(const Job& job);
std::vector<AdmissionRule> elastic_admission_rules();
std::vector<Cause> elastic_warnings(const Job& job);
/// Whether a replica of this rank is of high priority; unset without a valid `priority`.
std::optional<bool> has_high_priority(std::string_view priority, std::int32_t rank,
                                      std::int32_t replicas);

// --- pods that wait for nodes

/// From the annotations, the priorities, `criticalNodes`, and what the workers' command says to its
/// launcher.
PendingPolicy elastic_pending_policy(const Job& job);

}  // namespace muster::jobs
