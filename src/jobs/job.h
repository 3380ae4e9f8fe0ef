#pragma once

#include <any>
#include <boost/describe/class.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/object_meta.h"
#include "kube/objects/pod.h"

namespace muster::jobs {

// The wire structs shared by all job kinds (training-operator v1.9, pkg/apis/kubeflow.org/v1).
// Described as kube/'s are: JSON names follow from member names.

struct SchedulingPolicy {
    std::optional<std::int32_t> min_available;
    std::string queue;
    kube::ResourceList min_resources;
    std::string priority_class;
    std::optional<std::int32_t> schedule_timeout_seconds;
};
BOOST_DESCRIBE_STRUCT(SchedulingPolicy, (),
                      (min_available, queue, min_resources, priority_class,
                       schedule_timeout_seconds))

struct RunPolicy {
    std::string clean_pod_policy;  ///< "All", "Running", "None"; None after defaulting
    std::optional<std::int32_t> ttl_seconds_after_finished;
    std::optional<std::int64_t> active_deadline_seconds;
    std::optional<std::int32_t> backoff_limit;
    std::optional<SchedulingPolicy> scheduling_policy;
    std::optional<bool> suspend;
    std::string managed_by;
};
BOOST_DESCRIBE_STRUCT(RunPolicy, (),
                      (clean_pod_policy, ttl_seconds_after_finished, active_deadline_seconds,
                       backoff_limit, scheduling_policy, suspend, managed_by))

/// More pods of one type than any cluster runs; keeps sums within an int32.
inline constexpr std::int32_t kMaxReplicas = 100'000;

struct ReplicaSpec {
    std::optional<std::int32_t> replicas;
    kube::PodTemplateSpec template_;
    std::string restart_policy;  ///< "Always", "OnFailure", "Never", "ExitCode"
};
BOOST_DESCRIBE_STRUCT(ReplicaSpec, (), (replicas, template_, restart_policy))

struct ReplicaStatus {
    std::optional<std::int32_t> active;
    std::optional<std::int32_t> succeeded;
    std::optional<std::int32_t> failed;
    std::string selector;
    // Our additions, absent if there is nothing to say.
    /// Counted against backoffLimit: containers restarted in place and pods replaced.
    std::optional<std::int32_t> restarts;
    /// The replicas that have succeeded while others have not ("0-2,5", as in batch/v1): their pods
    /// may be deleted and are not made again.
    std::string completed_indexes;

    friend bool operator==(const ReplicaStatus&, const ReplicaStatus&) = default;
};
BOOST_DESCRIBE_STRUCT(ReplicaStatus, (),
                      (active, succeeded, failed, selector, restarts, completed_indexes))

/// What the replica of one rank requests in place of what its template has: request and limit of its
/// default container. Only cpu and memory.
struct OwnResources {
    kube::ResourceList resource;
    /// What the template had then. An amount counts as long as the template has this one.
    kube::ResourceList instead_of;

    friend bool operator==(const OwnResources&, const OwnResources&) = default;
};
BOOST_DESCRIBE_STRUCT(OwnResources, (), (resource, instead_of))

/// How many ranks of a type may have resources of their own: a status has a limited size.
inline constexpr std::size_t kMostOwnResources = 1000;

/// Which replicas of one type are wanted, and their ranks, for kinds whose ids rise
/// (JobKind::rising_ids). An addition of ours.
struct ReplicaMembers {
    std::string ids;  ///< "0-2,5"
    /// By id, where it differs from the id. Two ids have one rank while the later one takes over.
    std::map<std::string, std::int32_t> ranks;
    std::int32_t next = 0;  ///< the id of the next replica; never falls
    std::map<std::string, OwnResources> resources = {};  ///< by rank
    /// By id, of replicas that follow another one in its rank: how many restarts that rank had had.
    std::map<std::string, std::int32_t> restarts = {};
    /// Of replicas that left without another one following them.
    std::optional<std::int32_t> former_restarts = {};

    friend bool operator==(const ReplicaMembers&, const ReplicaMembers&) = default;
};
BOOST_DESCRIBE_STRUCT(ReplicaMembers, (), (ids, ranks, next, resources, restarts, former_restarts))

/// What ScalePlans ask of the replicas of one type beyond the manifest (jobs/scale_plan.h).
struct AskedReplicas {
    /// How many instead of `instead_of`, the number that the manifest had then: once it has another
    /// one, that counts. Unset: as many as the manifest has.
    std::optional<std::int32_t> replicas;
    std::optional<std::int32_t> instead_of;
    kube::ResourceList resource;  ///< of the pods that are made from now on; empty: as written

    friend bool operator==(const AskedReplicas&, const AskedReplicas&) = default;
};
BOOST_DESCRIBE_STRUCT(AskedReplicas, (), (replicas, instead_of, resource))

/// A node on which no new pod of a job is to be placed. An addition of ours.
struct ExcludedNode {
    std::string node;   ///< its name, which its label kubernetes.io/hostname has
    std::string until;  ///< RFC 3339; empty: as long as there is the job

    friend bool operator==(const ExcludedNode&, const ExcludedNode&) = default;
};
BOOST_DESCRIBE_STRUCT(ExcludedNode, (), (node, until))

/// So many of a job or a plan; of a job the newest.
inline constexpr std::size_t kMostExcludedNodes = 32;

/// The ScalePlan that was executed last, and what is left of all of them.
struct ExecutedPlan {
    std::string uid;
    std::int64_t generation = 0;
    std::map<std::string, AskedReplicas> replicas;   ///< by type
    std::vector<ExcludedNode> excluded_nodes = {};   ///< the newest last; some may be over
    std::map<std::string, std::string> spares = {};  ///< by type: ids that leave first, "3,5-6"

    friend bool operator==(const ExecutedPlan&, const ExecutedPlan&) = default;
};
BOOST_DESCRIBE_STRUCT(ExecutedPlan, (), (uid, generation, replicas, excluded_nodes, spares))

struct JobCondition {
    std::string type;  ///< Created, Running, Restarting, Suspended, Succeeded, Failed
    std::string status;
    std::string reason;
    std::string message;
    std::string last_update_time;
    std::string last_transition_time;

    friend bool operator==(const JobCondition&, const JobCondition&) = default;
};
BOOST_DESCRIBE_STRUCT(JobCondition, (),
                      (type, status, reason, message, last_update_time, last_transition_time))

struct JobStatus {
    std::vector<JobCondition> conditions;
    std::map<std::string, ReplicaStatus> replica_statuses;
    std::string start_time;
    std::string completion_time;
    std::string last_reconcile_time;
    /// An addition of ours: how often all pods were restarted together, and the generation of the
    /// current pods; older ones are being deleted.
    std::optional<std::int32_t> restart_generation;
    /// More additions: how many of these restarts, including the last, came soon after the previous
    /// one, and when the last one was. They decide how long the pods of the new generation are
    /// delayed.
    std::optional<std::int32_t> restarts_in_a_row;
    std::string last_restart_time;
    /// By type, for kinds whose ids rise: another addition. Without it ids 0 to replicas-1 are wanted.
    std::map<std::string, ReplicaMembers> members;
    /// For kinds that ScalePlans change: another addition.
    std::optional<ExecutedPlan> plan;
    json::object rest;

    /// Whether a condition of this type has status "True".
    bool is(std::string_view type) const;
    bool finished() const { return is("Succeeded") || is("Failed"); }

    friend bool operator==(const JobStatus&, const JobStatus&) = default;
};
BOOST_DESCRIBE_STRUCT(JobStatus, (),
                      (conditions, replica_statuses, start_time, completion_time,
                       last_reconcile_time, restart_generation, restarts_in_a_row,
                       last_restart_time, members, plan, rest))

class JobKind;
struct ReplicaType;

/// The environment that a job runs in. Not part of the manifest: the planner of the pods provides
/// it.
struct Platform {
    /// Where the nodes have this program, so that pods can have it too; empty if unknown, as on a
    /// cluster.
    std::string node_program = {};
    /// Otherwise the image that has it: the operator's own. Empty: the images of jobs have it, or
    /// none does.
    std::string program_image = {};
    /// Pods get that image as a volume; otherwise an init container copies the program.
    bool image_volumes = false;
    /// The end of full names: "cluster.local". Empty: jobs get names that end with "svc", which
    /// resolve in every cluster.
    std::string cluster_domain = {};
    /// True on a cluster, where schedulers and autoscalers of others may handle a job; false on one
    /// machine, which has none.
    bool cluster = false;
    /// The scheduler to which gangs are left: "volcano" (in any case of letters), "yunikorn", or
    /// the name of one with the coscheduling of scheduler-plugins. Empty: as the job's pod
    /// templates say.
    std::string gang_scheduler = {};
    /// Jobs whose pods run our agent (`muster-run`) may own a Secret with the token that their
    /// agents share; whoever makes it may do so.
    bool agent_tokens = false;
    /// Pods reach the API as their service accounts, with tokens of these. A master of ours keeps its
    /// record there then.
    bool pods_reach_api = false;

    /// Whether pods that need this program get it.
    bool gives_program() const { return !node_program.empty() || !program_image.empty(); }
    /// Whether it runs the masters of agents in pods of their own: with the program, and a record that
    /// outlives the pod.
    bool runs_masters() const { return gives_program() && pods_reach_api; }
};

/// A job of any kind, in the form that the engine works on: what all kinds share is typed; what
/// only the kind knows is in `extra`, which only the kind's own functions read.
struct Job {
    const JobKind* kind = nullptr;
    kube::ObjectMeta metadata;
    RunPolicy run_policy;
    /// Replica types of the manifest, and those that the kind's defaults add, by canonical name.
    /// Iterate with JobKind::replica_types if the order matters.
    std::map<std::string, ReplicaSpec> replicas;
    /// The keys of the replica map that are spelled differently ("worker"), by canonical name.
    std::map<std::string, std::string> spelled;
    JobStatus status;
    Platform platform;
    std::any extra;

    /// Without those that are beside the job (ReplicaType::beside).
    std::int32_t total_replicas() const;
    /// The name of a service of the job's namespace after its first dot: "ml.svc", or
    /// "ml.svc.cluster.local".
    std::string service_domain() const;
    /// Where the manifest has this replica type: "spec.pytorchReplicaSpecs.Worker".
    std::string replica_path(const std::string& type) const;
    const ReplicaSpec* replica(const std::string& type) const {
        auto it = replicas.find(type);
        return it == replicas.end() ? nullptr : &it->second;
    }
    /// Whether one failure of this type restarts all pods: as the annotation `muster.dev/restart`
    /// says, else the kind.
    bool restarts_all(const ReplicaType& type) const;
    /// Whether the init containers of these replicas get the kind's variables: as the annotation
    /// `muster.dev/init-containers-env` of their template says, else that of the job; else not.
    bool init_containers_get_environment(const ReplicaSpec& spec) const;
};

}  // namespace muster::jobs
