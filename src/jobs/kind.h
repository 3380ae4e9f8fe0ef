#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobs/job.h"
#include "kube/objects/core_objects.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_type.h"
#include "kube/schema/schema.h"

namespace muster::jobs {

struct ReplicaType {
    std::string name;  ///< canonical: "Master"
    std::int32_t default_replicas = 1;
    /// The only valid number, as for a master; unset: any.
    std::optional<std::int32_t> only_replicas = std::nullopt;
    bool required = false;  ///< a job without this type is refused
    /// False for a type whose only pod has no index in its name ("demo-launcher") or its labels.
    bool numbered = true;
    /// If it differs from the kind's.
    std::string default_restart_policy = {};
    /// The only valid ones; empty: any.
    std::vector<std::string> restart_policies = {};
    /// If one of these fails, no part of the job can continue: all of its pods restart together,
    /// unless the job says otherwise.
    bool restarts_all = false;
    /// Upstream's operator lets a batch Job of the replica's name make its pod. If such a Job is
    /// left, it would keep making pods beside ours.
    bool had_batch_job = false;
    /// Of its default container, if it differs from the kind's.
    std::int32_t port = 0;
    /// False for a type without services of its own, in a kind that has them.
    bool service = true;
    /// The kind gives its default container image and command; the template needs neither.
    bool own_program = false;
    /// Only the kind's defaults add it: no manifest can have it. Its pods serve those of the job and
    /// are no part of it: no status, limit, gang or result counts them, and they go when they have
    /// none left to serve. Such types come last in JobKind::replica_types.
    bool beside = false;

    std::string lower() const;
};

/// One replica of a job.
struct ReplicaId {
    std::string type;  ///< canonical
    std::int32_t index = 0;
    /// Of a kind with rising ids, whose replicas have them as their indices: the rank, where it is
    /// not the index.
    std::optional<std::int32_t> kept_rank = std::nullopt;

    std::int32_t rank() const { return kept_rank.value_or(index); }

    friend auto operator<=>(const ReplicaId&, const ReplicaId&) = default;
};

/// How many pods of one replica type are in each state; `wanted` is spec.replicas.
struct ReplicaCounts {
    std::int32_t wanted = 0;
    std::int32_t active = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;
    /// The pod of index 0 has succeeded; some kinds end with their first worker.
    bool first_succeeded = false;
};

/// Which replicas decide whether a job succeeded, and how many of them are enough. The job is
/// running when one of them is.
struct SuccessPolicy {
    enum class Enough : std::uint8_t {
        kAll,    ///< every one has succeeded
        kFirst,  ///< the one with index 0 has
        kAny,    ///< one has
    };
    std::uint8_t type = 0;  ///< place in JobKind::replica_types
    Enough enough = Enough::kAll;
    /// Upstream's messages name the job with its namespace, and word success differently.
    bool with_namespace = false;
    /// A bit for each type whose replicas may finally fail without failing the job.
    std::uint8_t forgiven = 0;
    /// A bit for each further type whose replicas must all have succeeded as well (kAll).
    std::uint8_t together = 0;

    void forgive(std::uint8_t replica_type) { forgiven |= 1u << replica_type; }
    bool forgives(std::uint8_t replica_type) const { return (forgiven >> replica_type & 1u) != 0; }
    void count(std::uint8_t replica_type) { together |= 1u << replica_type; }
    bool counts(std::uint8_t replica_type) const {
        return replica_type == type || (together >> replica_type & 1u) != 0;
    }

    friend bool operator==(const SuccessPolicy&, const SuccessPolicy&) = default;
};

/// What the deciding replicas say about the job; the engine handles restarts and failures.
enum class Outcome { kPending, kRunning, kSucceeded };

struct Verdict {
    Outcome outcome = Outcome::kPending;
    /// The condition's message, in upstream's words for this kind.
    std::string message;
    /// For a kind that is Running before it succeeds: the message of that Running condition.
    std::string running_message = {};
};

/// A kind's messages about failed replicas; {kind}, {namespace}, {name}, {type} and {count} are
/// filled in.
struct FailureWords {
    std::string failed = "{kind} {name} is failed because {count} {type} replica(s) failed.";
    std::string restarting =
        "{kind} {name} is restarting because {count} {type} replica(s) failed.";
};

/// An object that a job has in addition to its pods and services: a ConfigMap that they mount, a
/// role that one of them needs. The engine makes it before the first pod, keeps the listed parts as
/// they are here, and leaves everything else alone. It is deleted with its job.
struct OwnedObject {
    kube::ResourceType type;
    std::string name;
    std::map<std::string, std::string> labels;  ///< in addition to the one that names the job
    json::object content;                       ///< all but apiVersion, kind and metadata
    /// Paths in the object that are written again if they differ: "data", "spec.selector". A path
    /// that is missing in the content must be absent.
    std::vector<std::string> kept;
    /// Paths that only have to exist and not be empty: their values are made once, by `make` or as
    /// in the content.
    std::vector<std::string> made_once = {};
    /// Fills in random values; called right before the object is created.
    std::function<Result<void>(json::object& content)> make = {};
    /// Set at creation, and not maintained.
    std::map<std::string, std::string> annotations = {};
    /// Not made while the job has pods, which have started with another one or without any: pods
    /// do without it.
    bool before_pods_only = false;
};

/// The range of the number of replicas of JobKind::scaled_type while the job runs.
struct Elasticity {
    std::int32_t min_replicas = 0;
    std::int32_t max_replicas = 0;
    /// The metrics of an autoscaler (autoscaling/v2); unset: the job has none.
    std::optional<std::vector<json::value>> metrics = std::nullopt;
};

/// How long the pods of a job may wait for nodes, and what becomes of it then.
struct PendingPolicy {
    enum class Demand : std::uint8_t {
        kNothing,    ///< they wait as long as it takes
        kNecessary,  ///< what the job can't do without must be placed in time
        kAll,        ///< so must the rest, but for replicas of low priority beside others
    };
    struct Need {
        std::int32_t necessary = 0;  ///< how many the job can't do without
        std::int32_t all = 0;        ///< how many of the first ranks kAll means

        friend bool operator==(const Need&, const Need&) = default;
    };

    Demand demand = Demand::kNothing;
    std::chrono::seconds timeout{};  ///< for each pod; 0: no limit
    /// How long fewer than necessary may run for another reason; 0: no limit.
    std::chrono::seconds too_few_timeout{};
    /// A scheduler places the pods together or not at all: that they wait counts only from when one
    /// has run.
    bool together = false;
    std::vector<Need> needs = {};  ///< by replica type
    /// How many of JobKind::scaled_type its programs begin with, where that is known and fewer than all.
    std::optional<std::int32_t> begins_with = std::nullopt;

    friend bool operator==(const PendingPolicy&, const PendingPolicy&) = default;
};

/// How much memory a job may have by which replicas that ran out of it get more. In bytes.
struct MemoryPolicy {
    std::vector<std::int64_t> each =
        {};  ///< what one pod requests by its template; by replica type
    std::optional<std::int64_t> limit = std::nullopt;  ///< of all pods together

    friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

/// What is known of a pod when the owned objects are made.
struct SeenPod {
    ReplicaId replica;
    std::string address;  ///< its IP; empty until it has one

    friend bool operator==(const SeenPod&, const SeenPod&) = default;
};

/// A variable that a kind sets, and the rule for its value, in words.
struct Variable {
    kube::EnvVar env;
    std::string_view rule;  ///< valid as long as the program runs
};

/// How a kind's status is written.
enum class StatusForm : std::uint8_t {
    kKubeflow,  ///< conditions, replicaStatuses and times at `.status`
    /// The same, and as DLRover's operator has it: the newest state at `.status.phase`, and conditions,
    /// counts and times at `.status.status`. A status that only that operator has written is read
    /// from there.
    kDlrover,
};

/// Which containers of a pod get the variables.
enum class EnvTarget { kAllContainers, kDefaultContainer };

/// A rule about a job for an API server: a CEL expression that is true for every job that the
/// operator accepts. It may use the variables of admission_variables().
struct AdmissionRule {
    std::string expression;
    std::string message;                  ///< field, what is wrong, what to do
    std::string message_expression = {};  ///< CEL for the same with values; empty: none

    friend bool operator==(const AdmissionRule&, const AdmissionRule&) = default;
};

/// A job kind as data and pure functions. To add a framework, add one file that builds one of
/// these, and name it in registry.cc. The engine in operator/ knows no framework by name.
///
/// A kind's file has a described struct of its `.spec`; bind_spec() (internal/spec_binding.h) makes
/// `spec_schema` and `decode_spec` from it.
class JobKind {
  public:
    // --- names on the wire
    kube::ResourceType resource;
    std::string replicas_field;              ///< "pytorchReplicaSpecs"
    std::vector<ReplicaType> replica_types;  ///< in the order in which the engine visits them
    /// The mandatory container. Empty: the first one, whatever its name.
    std::string container_name;
    /// A pod without a container of that name will do: its first one counts.
    bool any_container = false;
    std::string port_name;  ///< empty: no port is added
    std::int32_t port = 0;
    std::string default_restart_policy;
    /// Label value and event source; empty: "<kind>-controller".
    std::string own_controller_name;
    /// For a resource that is served in several versions: the field of `.spec` that says in which
    /// of them a job was written, since the API stores and shows all of them as one. Each version's
    /// schema sets its own value. Empty: there is one version.
    std::string version_field;
    std::string version_mark;
    std::string scaled_type;       ///< changed by the scale subresource; empty: none
    bool status_selector = false;  ///< replicaStatuses carry the selector
    bool services = true;          ///< each replica has a headless service
    EnvTarget env_target = EnvTarget::kAllContainers;
    /// Upstream's operator of this kind, if it is not the training-operator: `managedBy` may name
    /// it, and means this operator then. Empty: none. To be set before bind_spec().
    std::string own_operator;
    FailureWords words = {};
    /// A failed pod whose policy is Never is made again, within the backoff limit, as a batch Job
    /// does.
    bool replaces_failed_pods = false;
    /// The replacement of a pod has the next index that was never used, and the rank of its
    /// predecessor; without this it has the same index (docs/design/elasticjob.md).
    bool rising_ids = false;
    /// ScalePlans change its jobs (jobs/scale_plan.h); their ids rise then.
    bool scale_plans = false;
    /// Of a kind with them: whether a job's master writes a plan of its own
    /// (jobs/scale_plan.h, own_plan_name()). Empty: none does.
    std::function<bool(const Job&)> has_own_plan;
    /// The label of a replica's index may count the ranks of the job: its pod's name tells the index.
    bool labels_ranks = false;
    /// Running is recorded before Succeeded, however short the job was.
    bool runs_before_it_succeeds = false;
    /// No container restarts in place, whatever the policy: a replica restarts as a new pod.
    bool restarts_as_pods = false;
    /// Before the reasons of conditions ("JobCreated"); empty: the kind.
    std::string reason_prefix;
    /// A job none of whose deciding replicas has run yet is Pending.
    bool tells_pending = false;
    StatusForm status_form = StatusForm::kKubeflow;
    kube::Schema::Ptr spec_schema;  ///< of `.spec`
    /// The types of `owned_objects`: the engine watches these, and only objects with the job's
    /// label.
    std::vector<kube::ResourceType> owned_types;
    /// Those that they have besides where the platform gives agents tokens, and where it runs their
    /// masters in pods of their own; no pod shows in them.
    std::vector<kube::ResourceType> token_types;
    std::vector<kube::ResourceType> master_types;
    /// Annotations of a job on which `pending_policy` depends: they change without a generation.
    std::vector<std::string> pending_annotations;

    // --- pure functions. Those marked (written) get the job as the manifest has it, the others get
    // it with defaults. All but decode_spec and success_policy may be empty.
    /// Fills run_policy, replicas (keys as written) and extra from `.spec`. Values of a wrong type
    /// are added to the problems and skipped.
    std::function<void(const json::value&, Job&, std::vector<Cause>&)> decode_spec;
    /// Kind-specific defaults, after the common ones.
    std::function<void(Job&)> own_defaults;
    /// (written) Kind-specific rules, beyond those that follow from the data above.
    std::function<std::vector<Cause>(const Job&)> own_rules;
    /// Those of `own_rules` that CEL can express.
    std::vector<AdmissionRule> own_admission_rules;
    /// (written) Kind-specific warnings; reason is "Deprecated", "Ineffective" or "Doubtful".
    std::function<std::vector<Cause>(const Job&)> own_warnings;
    /// Whether the services of a job's replicas are named by rank, among its owned objects: no replica has
    /// one of its own then. Empty: they are not.
    std::function<bool(const Job&)> serves_ranks;
    /// The variables of one replica, in upstream's order; appended after the user's own.
    std::function<Result<std::vector<Variable>>(const Job&, const ReplicaId&)> environment;
    /// True for pods that carry job-role=master.
    std::function<bool(const Job&, const ReplicaId&)> has_master_role;
    /// The name of a replica's pod and service if it is not `<job>-<type>-<index>`; otherwise "".
    std::function<std::string(std::string_view job_name, const ReplicaId&)> own_replica_name;
    /// Makes the last changes to an otherwise complete pod: volumes, commands, init containers.
    std::function<void(const Job&, const ReplicaId&, kube::Pod&)> finish_pod;
    /// From the job with defaults and its running pods, in the order of type and index.
    std::function<std::vector<OwnedObject>(const Job&, const std::vector<SeenPod>&)> owned_objects;
    /// False for a job that has none; empty: each has some.
    std::function<bool(const Job&)> has_owned_objects;
    /// Whether the programs of a job meet at a master of ours: all of them share its token then, where
    /// the platform gives jobs one. Empty: they don't.
    std::function<bool(const Job&)> meets_at_master;
    /// Data rather than a verdict, so that an operator need not keep a job's whole spec to apply
    /// it.
    std::function<SuccessPolicy(const Job&)> success_policy;
    /// The type (canonical) whose pods must all be Ready before a pod of this type is made; "" if
    /// it waits for none. A pod that exists stays, whatever happens to the others.
    std::function<std::string(const Job&, const std::string& type)> starts_after;
    /// How often a replica of a type may restart in a row, each time soon after the last, before its
    /// next failure is final. Nothing, or empty: only the job as a whole has a limit.
    std::function<std::optional<std::int32_t>(const Job&, const std::string& type)> restart_limit;
    /// Nothing for a job whose replicas get no more memory when they ran out of it. Only of kinds whose
    /// ids rise.
    std::function<std::optional<MemoryPolicy>(const Job&)> memory_policy;
    /// Nothing for a job whose number of replicas is fixed.
    std::function<std::optional<Elasticity>(const Job&)> elasticity;
    /// Empty: pods wait as long as it takes.
    std::function<PendingPolicy(const Job&)> pending_policy;

    /// "pytorchjob-controller": label value, event source.
    std::string controller_name() const;
    const ReplicaType* replica_type(std::string_view name) const;
    /// The types that a manifest may have: all but those beside the job.
    std::span<const ReplicaType> written_types() const;
    /// Whether this is the type of pods that are beside the job.
    bool is_beside(std::string_view type) const;
    /// Before the reasons of conditions: "PyTorchJob".
    const std::string& condition_prefix() const;
    /// Whether each replica of this type has a headless service of its own, if its job does not serve
    /// ranks.
    bool has_services(std::string_view type) const;
    /// The policy of a replica of this type if none is written.
    const std::string& default_policy(std::string_view type) const;

    /// From JSON without defaults; values of a wrong type are added to the problems and skipped. A
    /// status that can't be read counts as empty: it is ours, not the user's. The kind must outlive
    /// the job.
    Job decode(const json::value& object, std::vector<Cause>& problems) const;
    /// The same, but a problem is an error (kBadRequest with all causes).
    Result<Job> parse(const json::value& object) const;
};

/// All kinds, in the order of their names. A kind need not be among them: every function here takes
/// the kind as an argument.
const std::vector<const JobKind*>& all_kinds();
/// The version of a resource that an object was written in; `read_as` is the version in which the
/// API shows it.
const JobKind& kind_as_written(const JobKind& read_as, const json::value& object);
/// The status of an object of a kind. One that can't be read counts as empty.
JobStatus read_status(const JobKind& kind, const json::value& status);
/// `.status` as it is written. `wanted`: how many replicas of each type there should be.
json::value write_status(const JobKind& kind, const JobStatus& status,
                         const std::map<std::string, std::int32_t>& wanted);

/// The verdict from these counts of the deciding types.
Verdict judge(const JobKind& kind, const SuccessPolicy& success_policy, std::string_view namespace_,
              std::string_view name, const ReplicaCounts& counts);
/// One of the kind's FailureWords with its gaps filled in.
std::string failure_message(const std::string& words, const JobKind& kind,
                            std::string_view namespace_, std::string_view name,
                            std::string_view type, std::int32_t count);
/// Whether all of a job's pods restart when one of this type fails; `annotation` is the job's
/// (annotations::kRestart), or "".
bool restarts_all(const ReplicaType& type, std::string_view annotation);
/// Whether pods of this type run our program, and not that of their template (annotations::kMaster).
bool runs_own_program(const Job& job, const ReplicaType& type);
/// Whether `runPolicy.managedBy` ("" if unset) leaves the job to this operator.
bool is_ours(const JobKind& kind, std::string_view managed_by);
/// Whether a resource is one of jobs, in whichever version: "pytorchjobs.kubeflow.org".
bool is_job_resource(std::string_view qualified);
/// By kind and apiVersion ("kubeflow.org/v1"); null if unknown.
const JobKind* find_kind(std::string_view api_version, std::string_view kind);

// --- what is the same for every kind

/// Common defaults (training-operator v1.9, pkg/apis/kubeflow.org/v1/defaulting_utils.go), then the
/// kind's own. Idempotent.
void apply_defaults(Job& job);

/// Everything that is wrong with a job as written: structure is checked by the schema, this checks
/// meaning. Field paths start at the root ("spec.pytorchReplicaSpecs.Master.replicas") and spell
/// keys as the manifest does.
std::vector<Cause> validate(const Job& job);

/// What may not change while a job exists: `managedBy`, and a queue that was set once (upstream's
/// rules; its PyTorchJob webhook compares the new object with itself and lets managedBy pass).
std::vector<Cause> validate_update(const Job& before, const Job& after);

/// The rules of both functions that CEL can express and the schema can't, for a resource;
/// `versions` are its kinds. Rules of one version apply to jobs that are written in it, in
/// whichever version they are sent.
std::vector<AdmissionRule> admission_rules(std::span<const JobKind* const> versions);
/// Names that these rules use, and their values: CEL over `object`.
std::vector<std::pair<std::string, std::string>> admission_variables(const JobKind& kind);

/// Fields of a job as written that are deprecated, have no effect, or are probably not meant.
/// `reason` is "Deprecated", "Ineffective" or "Doubtful".
std::vector<Cause> warnings(const Job& job);

/// An object after schema, decoding, rules and warnings.
struct Review {
    Job job;                      ///< with defaults; complete only if there are no problems
    std::vector<Cause> problems;  ///< all of them, one for each field and reason
    std::vector<Cause> warnings;
};
Review review(const JobKind& kind, const json::value& object, const Platform& platform = {});

/// A review without warnings: the job with defaults, or kInvalid with all causes.
Result<Job> load(const JobKind& kind, const json::value& object, const Platform& platform = {});

/// The name of a replica's pod and service: `<job>-<type>-<index>`, or the kind's own.
std::string replica_name(const JobKind& kind, std::string_view job_name, const ReplicaId& replica);
std::string replica_name(const Job& job, const ReplicaId& replica);
/// The labels of a replica's pod (with the role) or service (without).
std::map<std::string, std::string> replica_labels(const Job& job, const ReplicaId& replica,
                                                  bool with_role);
/// The labels of all pods of a job.
std::map<std::string, std::string> job_labels(const JobKind& kind, std::string_view job_name);
kube::OwnerReference owner_reference(const Job& job);
kube::ObjectReference object_reference(const Job& job);

/// The container that the kind is about: the one with the mandatory name, else the first; null if
/// the pod has no containers.
const kube::Container* default_container(const JobKind& kind, const kube::PodSpec& spec);

/// What a pod inherits from its predecessors.
struct RestartHistory {
    std::int32_t restarts = 0;    ///< of this replica, counted before this pod
    std::int32_t generation = 0;  ///< JobStatus::restart_generation when it was made
    /// How many pods of this replica went before this one, each soon after its predecessor.
    std::int32_t in_a_row = 0;

    friend bool operator==(const RestartHistory&, const RestartHistory&) = default;
};

/// The pod of one replica as it will be created: template, labels, environment, restart policy. `own`:
/// what its default container requests in place of what the template has.
Result<kube::Pod> build_pod(const Job& job, const ReplicaId& replica,
                            const RestartHistory& restart_history = {},
                            const kube::ResourceList& own = {});

/// Where a variable of a pod comes from.
struct VariableOrigin {
    enum class Source : std::uint8_t {
        kTemplate,  ///< the manifest has it
        kRule,      ///< the kind sets it
        kPod,       ///< part of what the kind adds to the pod
    };
    Source source = Source::kTemplate;
    std::string_view rule;  ///< of kRule
};
/// For each container of build_pod()'s pod, then for each of its init containers, and each of their
/// variables in their order.
Result<std::vector<std::vector<VariableOrigin>>> variable_origins(const Job& job,
                                                                  const ReplicaId& replica,
                                                                  const kube::Pod& pod);

/// Whether each replica of this type has a headless service of its own.
bool has_services(const Job& job, std::string_view type);
/// Its headless service. `in_a_row`: as in RestartHistory, of services.
Result<kube::Service> build_service(const Job& job, const ReplicaId& replica,
                                    std::int32_t in_a_row = 0);

/// Whether a job has objects beside its pods and services, whatever pods it has.
bool has_owned_objects(const Job& job);
/// The types of the objects that jobs of a kind may own.
std::vector<kube::ResourceType> owned_types(const JobKind& kind, const Platform& platform);
/// An owned object as it will be created: in the job's namespace, owned by the job, with a label
/// that names it.
json::object owned_object_manifest(const Job& job, const OwnedObject& owned_object);
/// Selects the owned objects of all jobs, but no pods or services of replicas.
std::string owned_objects_selector();

/// The schema of a whole object, including status. Keys that it does not know are typing errors.
kube::Schema::Ptr object_schema(const JobKind& kind);
/// The CustomResourceDefinition of a kind.
json::value custom_resource_definition(const JobKind& kind);
/// That of a resource of which these are the versions, the stored one first.
json::value custom_resource_definition(std::span<const JobKind* const> versions);
/// The kinds of each resource in the given order: its versions, with the stored one first.
std::vector<std::vector<const JobKind*>> kinds_by_resource(std::span<const JobKind* const> kinds);
/// One CustomResourceDefinition per resource: kinds that are versions of the same resource share
/// one, of which the first is the stored version.
std::vector<json::value> custom_resource_definitions(std::span<const JobKind* const> kinds);

namespace labels {
inline constexpr std::string_view kOperatorName = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kJobName = "training.kubeflow.org/job-name";
inline constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kJobRole = "training.kubeflow.org/job-role";
}  // namespace labels

namespace annotations {
/// On a job: "group" restarts all of its pods when one fails, "replica" only that one; without it
/// the kind decides. An addition of ours.
inline constexpr std::string_view kRestart = "muster.dev/restart";
inline constexpr std::string_view kRestartGroup = "group";
inline constexpr std::string_view kRestartReplica = "replica";
/// On a job or a pod template, whose own counts first: "true" gives the kind's variables to init
/// containers too. An addition of ours.
inline constexpr std::string_view kInitContainersEnv = "muster.dev/init-containers-env";
inline constexpr std::string_view kYes = "true";
inline constexpr std::string_view kNo = "false";
/// On a pod: the parts of its RestartHistory that are not zero, with kube::kGenerationAnnotation.
inline constexpr std::string_view kRestarts = "muster.dev/restarts";
/// On a pod of a kind whose ids rise: its rank, where that is not its id.
inline constexpr std::string_view kRank = "muster.dev/rank";
/// On a service too: how many before it went, each soon after its predecessor.
inline constexpr std::string_view kInARow = "muster.dev/in-a-row";
/// On a job whose pods may have agents: "muster-run" if the programs of its replicas are our agent
/// though their commands don't say so; "image" if the launcher of the image is to run where ours
/// would take its place. An addition of ours.
inline constexpr std::string_view kAgent = "muster.dev/agent";
inline constexpr std::string_view kAgentOurs = "muster-run";
inline constexpr std::string_view kAgentOfImage = "image";
/// On an ElasticJob: "image" if the template of its dlrover-master has a master of its own in its
/// image, which is left as it is. An addition of ours.
inline constexpr std::string_view kMaster = "muster.dev/master";
inline constexpr std::string_view kMasterOfImage = "image";
}  // namespace annotations

}  // namespace muster::jobs
