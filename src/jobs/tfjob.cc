#include <fmt/format.h>

#include "jobs/internal/choices.h"
#include "jobs/internal/spec_binding.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

// TFJob, kubeflow.org/v1 (training-operator v1.9: pkg/apis/kubeflow.org/v1/tensorflow_*.go,
// pkg/controller.v1/tensorflow, pkg/webhooks/tensorflow).

namespace muster::jobs {
namespace {

constexpr std::string_view kConfig = "TF_CONFIG";
constexpr std::string_view kAllWorkers = "AllWorkers";

// In the order in which upstream visits them.
enum Type : std::uint8_t { kChief, kEvaluator, kMaster, kPs, kWorker };
const std::string& name_of(Type type) {
    static const std::vector<std::string> names{"Chief", "Evaluator", "Master", "PS", "Worker"};
    return names[type];
}

struct TFJobSpec {
    RunPolicy run_policy;
    std::string success_policy;
    std::map<std::string, ReplicaSpec> tf_replica_specs;
    std::optional<bool> enable_dynamic_worker;
    /// Not from the manifest: the part of TF_CONFIG that all replicas share, made once with the
    /// defaults. For a job with dynamic workers that is the list of its parameter servers.
    std::string shared;
};
BOOST_DESCRIBE_STRUCT(TFJobSpec, (),
                      (run_policy, success_policy, tf_replica_specs, enable_dynamic_worker))

FieldNotes field_notes(const TFJobSpec*) {
    return {
        {.member = "run_policy", .text = "How the job as a whole is run."},
        {.member = "success_policy",
         .text = "Without a Chief or Master: the job has succeeded when worker 0 has (\"\", the "
                 "default), or when all workers have (AllWorkers).",
         .values = {"", std::string(kAllWorkers)}},
        {.member = "tf_replica_specs",
         .text = "The replicas by type: Chief or Master (one at most), PS, Worker, Evaluator.",
         .required = true},
        {.member = "enable_dynamic_worker",
         .text = "Workers know the parameter servers and themselves only, so that their number can "
                 "change, and one that fails does not fail the job."},
    };
}

bool has(const Job& job, Type type) { return job.replica(name_of(type)) != nullptr; }
bool is_dynamic(const Job& job) {
    return spec_of<TFJobSpec>(job).enable_dynamic_worker.value_or(false);
}

// --- TF_CONFIG

std::string endpoint(const Job& job, Type type, std::int32_t index, std::int32_t port) {
    return fmt::format("\"{}.{}:{}\"", replica_name(job, {name_of(type), index}),
                       job.service_domain(), port);
}

std::string endpoints(const Job& job, Type type) {
    const std::int32_t port = port_or_default(job, name_of(type));
    std::string list = "[";
    for (std::int32_t i = 0; i < wanted(job, name_of(type)); ++i) {
        if (i > 0) list += ',';
        list += endpoint(job, type, i, port);
    }
    return list + "]";
}

/// The servers that train together. An evaluator is not one of them: TensorFlow's own documentation
/// keeps it out of the cluster (upstream lists it).
std::string cluster(const Job& job) {
    std::string text = "{";
    for (const Type type : {kChief, kMaster, kPs, kWorker})
        if (has(job, type))
            text += fmt::format("{}\"{}\":{}", text.size() > 1 ? "," : "",
                                lower_case(name_of(type)), endpoints(job, type));
    return text + "}";
}

std::string shared_part(const Job& job) {
    if (!is_dynamic(job)) return cluster(job);
    return has(job, kPs) ? endpoints(job, kPs) : "null";
}

/// What a replica of a job with dynamic workers knows (upstream's sparse form): a worker knows
/// itself and all parameter servers, a parameter server only itself, the others nothing.
std::string sparse_cluster(const Job& job, const ReplicaId& replica) {
    auto own = [&](Type type) {
        return endpoint(job, type, replica.index, port_or_default(job, name_of(type)));
    };
    if (replica.type == name_of(kWorker))
        return fmt::format(R"({{"worker":{{"{}":{}}},"ps":{}}})", replica.index, own(kWorker),
                           spec_of<TFJobSpec>(job).shared);
    if (replica.type == name_of(kPs))
        return fmt::format(R"({{"worker":{{}},"ps":[{}]}})", own(kPs));
    return R"({"worker":{},"ps":[]})";
}

std::string config(const Job& job, const ReplicaId& replica) {
    const std::string task =
        fmt::format(R"({{"type":"{}","index":{}}})", lower_case(replica.type), replica.index);
    if (is_dynamic(job))
        return fmt::format(R"({{"cluster":{},"task":{}}})", sparse_cluster(job, replica), task);
    return fmt::format(R"({{"cluster":{},"task":{},"environment":"cloud"}})",
                       spec_of<TFJobSpec>(job).shared, task);
}

/// pkg/controller.v1/tensorflow/tensorflow.go. A job with one replica is not distributed and gets
/// nothing.
Result<std::vector<Variable>> environment(const Job& job, const ReplicaId& replica) {
    Variables variables;
    if (all_wanted(job) != 1)
        variables.add(kConfig, config(job, replica),
                      is_dynamic(job) ? "the parameter servers and itself (enableDynamicWorker)"
                                      : "all replicas but evaluators, and its own task");
    return variables.take();
}

// --- rules

std::optional<Cause> check_length(const Job& job) {
    constexpr std::size_t kTask = 64;  // the rest of TF_CONFIG, generously
    const bool dynamic = is_dynamic(job);
    const std::int32_t named = dynamic ? wanted(job, name_of(kPs)) : all_wanted(job);
    return too_long(job, kConfig, shared_part(job).size() + kTask, named,
                    dynamic ? "take fewer parameter servers"
                            : "set enableDynamicWorker: true, with which a worker is told only of "
                              "the parameter servers and itself");
}

std::vector<Cause> check(const Job& job) {
    const std::string map_path = "spec." + job.kind->replicas_field;
    std::vector<Cause> causes;
    if (has(job, kChief) && has(job, kMaster))
        causes.push_back(
            forbidden(map_path, "Chief and Master are two names of one role; keep one of them"));
    if (!job.replicas.empty() && !has(job, kChief) && !has(job, kMaster) && !has(job, kWorker))
        causes.push_back(
            required(map_path + ".Worker",
                     "no replica here can make the job succeed: add a Chief, a Master or workers"));
    if (auto cause = check_length(job)) causes.push_back(*std::move(cause));
    return causes;
}

/// Upstream's sparse form names parameter servers and workers only.
std::vector<Cause> warn(const Job& job) {
    std::vector<Cause> found;
    if (!is_dynamic(job)) return found;
    for (const Type type : {kChief, kMaster, kEvaluator})
        if (has(job, type))
            found.push_back(doubtful(
                job.replica_path(name_of(type)),
                fmt::format("with enableDynamicWorker its TF_CONFIG names no other replica, and "
                            "that of the others does not name it: it can't train with them. Leave "
                            "out the {} or enableDynamicWorker",
                            name_of(type))));
    return found;
}

bool is_master_role(const Job& job, const ReplicaId& replica) {
    if (has(job, kChief) || has(job, kMaster))
        return replica.type == name_of(kChief) || replica.type == name_of(kMaster);
    return replica.type == name_of(kWorker) && replica.index == 0;
}

SuccessPolicy decide(const Job& job) {
    SuccessPolicy success_policy{.type = kWorker, .with_namespace = true};
    if (has(job, kChief))
        success_policy.type = kChief;
    else if (has(job, kMaster))
        success_policy.type = kMaster;
    else if (spec_of<TFJobSpec>(job).success_policy != kAllWorkers)
        success_policy.enough = SuccessPolicy::Enough::kFirst;
    if (is_dynamic(job)) success_policy.forgive(kWorker);
    return success_policy;
}

}  // namespace

JobKind tfjob() {
    JobKind kind;
    kind.resource = {.group = "kubeflow.org", .version = "v1", .plural = "tfjobs", .kind = "TFJob"};
    kind.replicas_field = "tfReplicaSpecs";
    for (const Type type : {kChief, kEvaluator, kMaster, kPs, kWorker})
        kind.replica_types.push_back({.name = name_of(type)});
    kind.replica_types[kChief].only_replicas = 1;
    kind.replica_types[kMaster].only_replicas = 1;
    kind.container_name = "tensorflow";
    kind.port_name = "tfjob-port";
    kind.port = 2222;
    kind.default_restart_policy = "Never";
    kind.env_target = EnvTarget::kDefaultContainer;
    kind.words.failed =
        "{kind} {namespace}/{name} has failed because {count} {type} replica(s) failed.";
    bind_spec(kind, &TFJobSpec::tf_replica_specs);
    kind.own_defaults = [](Job& job) { spec_of<TFJobSpec>(job).shared = shared_part(job); };
    kind.own_rules = check;
    kind.own_admission_rules = {
        {.expression = "!['chief', 'master'].all(r, variables.replicas.exists(t, t.lowerAscii() == "
                       "r))",
         .message = "spec.tfReplicaSpecs: Chief and Master are two names of one role; keep one of "
                    "them"},
        {.expression = "size(variables.replicas) == 0 || variables.replicas.exists(t, "
                       "t.lowerAscii() in ['chief', 'master', 'worker'])",
         .message = "spec.tfReplicaSpecs.Worker: no replica here can make the job succeed: add a "
                    "Chief, a Master or "
                    "workers"}};
    kind.own_warnings = warn;
    kind.environment = environment;
    kind.has_master_role = is_master_role;
    kind.success_policy = decide;
    return kind;
}

}  // namespace muster::jobs
