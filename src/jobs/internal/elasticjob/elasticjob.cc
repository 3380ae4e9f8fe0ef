#include "jobs/internal/elasticjob/elasticjob.h"

#include <fmt/format.h>

#include "jobs/internal/choices.h"
#include "jobs/internal/elasticjob/elastic_master.h"
#include "jobs/internal/elasticjob/master_annotations.h"
#include "jobs/internal/elasticjob/resource_limits.h"
#include "jobs/internal/spec_binding.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

// The rest of ElasticJob is in internal/elasticjob/.

namespace muster::jobs {

// Not in an unnamed namespace: argument-dependent lookup would not find them there.
static FieldNotes field_notes(const ElasticReplicaSpec*) {
    return {
        {.member = "replicas",
         .text = "How many pods of this type; 1 if unset.",
         .minimum = 0,
         .maximum = kMaxReplicas},
        {.member = "template_", .text = "What each of these pods is made from."},
        {.member = "restart_policy",
         .text =
             "Always, OnFailure, Never or ExitCode. A replica that failed restarts as a new pod "
             "with each of them but ExitCode, with which only codes from 128 on are tried again.",
         .values = {"", "Always", "OnFailure", "Never", "ExitCode"}},
        {.member = "restart_count",
         .text =
             "Restarts of one replica in a row, each within ten minutes of the last, after which "
             "it is given up; 3 if unset.",
         .minimum = 0},
        {.member = "auto_scale", .text = "Whether the number of pods may be adapted to the load."},
        {.member = "restart_timeout", .text = "Not used.", .minimum = 0},
        {.member = "priority",
         .text = "Priority class of the pods: high, low, or a fraction such as 0.5, by which the "
                 "first half of the ranks is high."},
        {.member = "batch_scheduler",
         .text = "What places the pods: default, volcano or yunikorn.",
         .values = {"", "default", "volcano", "yunikorn"}},
        {.member = "critical_nodes",
         .text = "Which replicas the job can't do without: all, none, or RANK:RESTARTS,..."},
    };
}

static FieldNotes field_notes(const ElasticJobSpec*) {
    static const kube::Schema::Ptr variables = [] {
        auto variable = std::make_shared<kube::Schema>(*kube::core_schema("EnvVar"));
        variable->required.clear();
        for (const auto& [name, text] :
             {std::pair{"name", "Its name; the key if unset."}, std::pair{"value", "Its value."}}) {
            auto field = std::make_shared<kube::Schema>(*variable->property(name));
            field->description = text;
            variable->properties.insert_or_assign(name, std::move(field));
        }
        return schema_parts::map_of(std::move(variable));
    }();
    return {
        {.member = "run_policy", .text = "How the job as a whole is run; an addition of Muster's."},
        {.member = "distribution_strategy",
         .text = "AllreduceStrategy, ParameterServerStrategy, CustomStrategy or Local. If unset: "
                 "with parameter servers ParameterServerStrategy, else AllreduceStrategy.",
         .values = {"", "AllreduceStrategy", "ParameterServerStrategy", "CustomStrategy", "Local"}},
        {.member = "resource_limits",
         .text = "The most that all pods may request together: cpu, memory, gpu."},
        {.member = "optimize_mode",
         .text = "Who adapts resources: manual, single-job (default) or cluster.",
         .values = {"", "manual", "manunal", "single-job", "cluster"}},
        {.member = "brain_service", .text = "Address of the service that adapts resources."},
        {.member = "replica_specs",
         .text = "The replicas by type: dlrover-master (made if it is missing), ps, chief, worker, "
                 "evaluator.",
         .required = true},
        {.member = "envs",
         .text = "Variables of every pod; an entry without a name has that of its key.",
         .schema = variables},
        {.member = "suspend", .text = "While true the job has no pods."},
        {.member = "enable_elastic_scheduling", .text = "Not used; of older versions of DLRover."},
        {.member = "enable_dynamic_sharding", .text = "Not used; of older versions of DLRover."},
    };
}

namespace {

ReplicaSpec common_part(ElasticReplicaSpec& spec) {
    return {.replicas = spec.replicas,
            .template_ = std::exchange(spec.template_, {}),
            .restart_policy = spec.restart_policy};
}

/// The pods of a job that has ended are stopped if nothing else is written: parameter servers never
/// end by themselves, and upstream's master removes all pods.
void decode_elastic_spec(const json::value& value, Job& job, std::vector<Cause>& problems) {
    ElasticJobSpec spec;
    kube::decode_into(value, spec, "spec", problems);
    for (auto& [key, variable] : spec.envs)
        if (variable.name.empty()) variable.name = key;
    job.run_policy = std::exchange(spec.run_policy, {});
    if (spec.suspend.value_or(false)) job.run_policy.suspend = true;
    if (job.run_policy.clean_pod_policy.empty()) job.run_policy.clean_pod_policy = "Running";
    for (auto& [type, replica] : spec.replica_specs) job.replicas[type] = common_part(replica);
    job.extra = std::move(spec);
}

/// TensorFlow's clusters need a chief: without one the first worker is it
/// (dlrover/python/master/resource/job.py).
void make_chief(Job& job) {
    const std::string chief(kElasticChief);
    const auto worker = job.replicas.find(std::string(kElasticWorker));
    if (job.replicas.contains(chief) || worker == job.replicas.end()) return;
    if (worker->second.replicas.value_or(0) < 1) return;
    ReplicaSpec spec = worker->second;
    spec.replicas = 1;
    worker->second.replicas = *worker->second.replicas - 1;
    job.replicas.emplace(chief, std::move(spec));
}

void set_elastic_defaults(Job& job) {
    auto& spec = elastic_spec(job);
    const ElasticStrategy strategy = strategy_of(job);
    if (spec.distribution_strategy.empty())
        spec.distribution_strategy = kElasticStrategies[static_cast<std::size_t>(strategy)];
    if (strategy == ElasticStrategy::kParameterServer) make_chief(job);
    if (strategy != ElasticStrategy::kLocal && job.replica(std::string(kElasticMaster)) == nullptr)
        job.replicas.emplace(kElasticMaster, default_master(job, std::string(kElasticMaster)));
    // What our master says at its end is not for the manifest to judge.
    if (const auto master = job.replicas.find(std::string(kElasticMaster));
        master != job.replicas.end() && !has_own_master(job))
        master->second.restart_policy = begins_again(job) ? "OnFailure" : "ExitCode";
    if (job.platform.cluster)
        for (auto& [type, replica] : job.replicas) {
            const ElasticReplicaSpec* written = elastic_origin(job, type);
            if (written == nullptr) continue;
            const std::string& scheduler = written->batch_scheduler;
            kube::PodSpec& pod = replica.template_.spec;
            if (scheduler != "default" && pod.scheduler_name.empty())
                pod.scheduler_name = scheduler;
        }
    spec.tf_cluster = tf_cluster_of(job);
}

std::uint8_t place_of(ElasticType type) { return static_cast<std::uint8_t>(type); }

bool has_any(const Job& job, std::string_view type) {
    const ReplicaSpec* spec = job.replica(std::string(type));
    return spec != nullptr && spec->replicas.value_or(1) > 0;
}

/// Upstream ends a job when the critical replicas that end by themselves have ended: chief and
/// evaluator with parameter servers, all workers without.
SuccessPolicy elastic_success(const Job& job) {
    SuccessPolicy policy{.type = place_of(ElasticType::kWorker)};
    const bool by_chief =
        strategy_of(job) == ElasticStrategy::kParameterServer && has_any(job, kElasticChief);
    if (by_chief) {
        policy.type = place_of(ElasticType::kChief);
        if (has_any(job, kElasticEvaluator)) policy.count(place_of(ElasticType::kEvaluator));
    } else if (has_any(job, kElasticChief)) {
        policy.count(place_of(ElasticType::kChief));
    }
    for (const auto& [name, type] :
         {std::pair{kElasticPs, ElasticType::kPs}, std::pair{kElasticWorker, ElasticType::kWorker}})
        if (critical_nodes_of(job, name) == CriticalNodes::kNone) policy.forgive(place_of(type));
    return policy;
}

/// Upstream counts failures over a replica's whole life, and takes 5 for any larger number; a budget
/// that a long job has used up in months says nothing about it.
std::optional<std::int32_t> elastic_restart_limit(const Job& job, const std::string& type) {
    constexpr std::int32_t kUpstreams = 3;
    const bool is_master = type == kElasticMaster;
    if (is_master && !begins_again(job)) return std::nullopt;
    // What the master tells is a failure of its workers.
    const ElasticReplicaSpec* spec = elastic_origin(job, is_master ? kElasticWorker : type);
    return spec == nullptr ? kUpstreams : spec->restart_count.value_or(kUpstreams);
}

/// As upstream has it (dlrover/python/master/node/dist_job_manager.py): workers that meet at a rendezvous
/// are all alike, and more memory for one of them would hide a leak.
std::optional<MemoryPolicy> elastic_memory_policy(const Job& job) {
    if (strategy_of(job) != ElasticStrategy::kParameterServer) return std::nullopt;
    return memory_policy(job);
}

std::string elastic_name(std::string_view job_name, const ReplicaId& replica) {
    if (replica.type == kElasticMaster)
        return fmt::format("{}-{}", elastic_master_service(job_name), replica.index);
    return fmt::format("{}-edljob-{}-{}", job_name, replica.type, replica.index);
}

std::vector<ReplicaType> elastic_types() {
    constexpr std::int32_t kPsPort = 2222;
    return {{.name = std::string(kElasticMaster),
             .only_replicas = 1,
             .default_restart_policy = "ExitCode",
             .port = kMasterPort,
             .service = false,
             .own_program = true},
            // Their services have the names of ranks, whatever the strategy: rank_services().
            {.name = std::string(kElasticPs), .port = kPsPort, .service = false},
            {.name = std::string(kElasticChief), .only_replicas = 1},
            {.name = std::string(kElasticWorker)},
            {.name = std::string(kElasticEvaluator)}};
}

}  // namespace

const ElasticJobSpec& elastic_spec(const Job& job) { return spec_of<ElasticJobSpec>(job); }
ElasticJobSpec& elastic_spec(Job& job) { return spec_of<ElasticJobSpec>(job); }

const ElasticReplicaSpec* elastic_replica(const Job& job, std::string_view type) {
    const auto& specs = elastic_spec(job).replica_specs;
    const auto spelled = job.spelled.find(std::string(type));
    const auto spec =
        specs.find(spelled == job.spelled.end() ? std::string(type) : spelled->second);
    return spec == specs.end() ? nullptr : &spec->second;
}

const ElasticReplicaSpec* elastic_origin(const Job& job, std::string_view type) {
    const ElasticReplicaSpec* own = elastic_replica(job, type);
    return own == nullptr && type == kElasticChief ? elastic_replica(job, kElasticWorker) : own;
}

ElasticStrategy strategy_of(const Job& job) {
    const std::string& written = elastic_spec(job).distribution_strategy;
    for (std::size_t i = 0; i < kElasticStrategies.size(); ++i)
        if (kElasticStrategies[i] == written) return static_cast<ElasticStrategy>(i);
    return job.replica(std::string(kElasticPs)) == nullptr ? ElasticStrategy::kAllreduce
                                                           : ElasticStrategy::kParameterServer;
}

/// Upstream's rule (dlrover/python/master/node/dist_job_manager.py), where its schema does not lose
/// the field: of a job with parameter servers only worker 0 is critical, and that is the chief here.
/// Parameter servers are critical unless the manifest says otherwise: parameters that are lost make
/// training worthless.
CriticalNodes critical_nodes_of(const Job& job, std::string_view type) {
    const ElasticReplicaSpec* spec = elastic_replica(job, type);
    if (spec != nullptr && !spec->critical_nodes.empty())
        return spec->critical_nodes == "none" ? CriticalNodes::kNone : CriticalNodes::kAll;
    const bool beside_chief = type == kElasticWorker &&
                              strategy_of(job) == ElasticStrategy::kParameterServer &&
                              has_any(job, kElasticChief);
    return beside_chief ? CriticalNodes::kNone : CriticalNodes::kAll;
}

JobKind elasticjob() {
    JobKind kind;
    kind.resource = {.group = "elastic.iml.github.io",
                     .version = "v1alpha1",
                     .plural = "elasticjobs",
                     .kind = "ElasticJob"};
    kind.replicas_field = "replicaSpecs";
    kind.replica_types = elastic_types();
    kind.container_name = "main";
    kind.any_container = true;
    kind.port_name = "elasticjob-port";
    kind.port = 3333;
    kind.default_restart_policy = "Never";
    kind.restarts_as_pods = true;
    kind.replaces_failed_pods = true;
    kind.reason_prefix = "Job";
    kind.tells_pending = true;
    kind.status_form = StatusForm::kDlrover;
    kind.scaled_type = kElasticWorker;
    kind.status_selector = true;
    kind.env_target = EnvTarget::kDefaultContainer;
    kind.spec_schema = schema_of<ElasticJobSpec>();
    kind.decode_spec = decode_elastic_spec;
    kind.own_defaults = set_elastic_defaults;
    kind.own_rules = elastic_rules;
    kind.own_admission_rules = elastic_admission_rules();
    kind.own_warnings = elastic_warnings;
    kind.serves_ranks = [](const Job& job) {
        return strategy_of(job) == ElasticStrategy::kParameterServer;
    };
    kind.environment = elastic_environment;
    kind.own_replica_name = elastic_name;
    kind.finish_pod = finish_elastic_pod;
    kind.rising_ids = true;
    kind.scale_plans = true;
    kind.has_own_plan = has_record_object;
    kind.owned_types = master_object_types();
    kind.owned_types.push_back(kube::types::kServices);
    kind.token_types = {kube::types::kSecrets};
    kind.owned_objects = elastic_owned_objects;
    kind.has_owned_objects = kind.meets_at_master = [](const Job& job) {
        return strategy_of(job) != ElasticStrategy::kLocal;
    };
    kind.success_policy = elastic_success;
    kind.restart_limit = elastic_restart_limit;
    kind.memory_policy = elastic_memory_policy;
    kind.pending_policy = elastic_pending_policy;
    kind.pending_annotations = {std::string(kPendingTimeout), std::string(kPendingStrategy)};
    return kind;
}

}  // namespace muster::jobs
