#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "jobs/internal/spec_binding.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

// MXJob, kubeflow.org/v1 (training-operator v1.8: pkg/apis/kubeflow.org/v1/mxnet_*.go,
// pkg/controller.v1/mxnet; removed in v1.9).

namespace muster::jobs {
namespace {

constexpr std::string_view kConfig = "MX_CONFIG";
constexpr std::string_view kTrain = "MXTrain";
constexpr std::string_view kTune = "MXTune";
/// In a pod template: the device that the tuner's server of this type is for.
constexpr const char* kTunerKey = "tuner-server-key";

enum Type : std::uint8_t { kScheduler, kServer, kWorker, kTunerTracker, kTunerServer, kTuner };
const std::string& name_of(Type type) {
    static const std::vector<std::string> names{"Scheduler",    "Server",      "Worker",
                                                "TunerTracker", "TunerServer", "Tuner"};
    return names[type];
}

struct MXJobSpec {
    RunPolicy run_policy;
    std::string job_mode;
    std::map<std::string, ReplicaSpec> mx_replica_specs;
    /// Not from the manifest: the part of MX_CONFIG that all replicas share, made once with the
    /// defaults.
    std::string shared;
};
BOOST_DESCRIBE_STRUCT(MXJobSpec, (), (run_policy, job_mode, mx_replica_specs))

FieldNotes field_notes(const MXJobSpec*) {
    return {
        {.member = "run_policy", .text = "How the job as a whole is run."},
        {.member = "job_mode",
         .text = "MXTrain, or MXTune for a search of TVM's.",
         .required = true,
         .values = {std::string(kTrain), std::string(kTune)}},
        {.member = "mx_replica_specs",
         .text = "The replicas by type: Scheduler (one), Server and Worker; TunerTracker, "
                 "TunerServer and Tuner.",
         .required = true},
    };
}

bool has(const Job& job, Type type) { return job.replica(name_of(type)) != nullptr; }

/// Both parts of MX_CONFIG that are the same in all replicas, with keys in alphabetical order as Go
/// writes them.
std::string shared_part(const Job& job) {
    json::object cluster;
    json::object labels;
    for (const ReplicaType& type : job.kind->replica_types) {
        const ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        const std::int32_t port = port_or_default(job, type.name);
        json::array addresses;
        for (std::int32_t i = 0; i < wanted(job, type.name); ++i)
            addresses.push_back({{"url", replica_name(job, {type.name, i})}, {"port", port}});
        cluster[type.lower()] = std::move(addresses);
        const auto& annotations = spec->template_.metadata.annotations;
        const auto key = annotations.find(kTunerKey);
        labels[type.lower()] = key == annotations.end() ? std::string() : key->second;
    }
    auto sorted = [](const json::object& fields) {
        std::vector<std::string> keys;
        for (const auto& [key, value] : fields) keys.emplace_back(key);
        std::ranges::sort(keys);
        std::string text;
        for (const std::string& key : keys)
            text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key,
                                json::serialize(fields.at(key)));
        return text;
    };
    return fmt::format(R"("cluster":{{{}}},"labels":{{{}}})", sorted(cluster), sorted(labels));
}

/// pkg/controller.v1/mxnet/mxnet.go. BytePS needs DMLC_WORKER_ID.
Result<std::vector<Variable>> environment(const Job& job, const ReplicaId& replica) {
    const std::string role = lower_case(replica.type);
    std::int32_t root_port = 0;
    if (has(job, kScheduler)) {
        TRY(root_port, port_of(job, name_of(kScheduler)));
    }
    Variables variables;
    variables.add(kConfig,
                  fmt::format(R"({{{},"task":{{"type":"{}","index":{}}}}})",
                              spec_of<MXJobSpec>(job).shared, role, replica.index),
                  "all replicas, the tuners' labels, and its own task");
    variables.add("DMLC_PS_ROOT_PORT", std::to_string(root_port),
                  "the scheduler's port named mxjob-port");
    variables.add(
        "DMLC_PS_ROOT_URI",
        has(job, kScheduler) ? replica_name(job, {name_of(kScheduler), 0}) : std::string(),
        "the scheduler's name");
    variables.add("DMLC_NUM_SERVER", std::to_string(wanted(job, name_of(kServer))),
                  "Server.replicas");
    variables.add("DMLC_NUM_WORKER", std::to_string(wanted(job, name_of(kWorker))),
                  "Worker.replicas");
    variables.add("DMLC_ROLE", role, "the replica type");
    variables.add("DMLC_USE_KUBERNETES", "1", "always");
    if (replica.type == name_of(kWorker))
        variables.add("DMLC_WORKER_ID", std::to_string(replica.index), "the worker's index");
    return variables.take();
}

std::optional<Cause> check_length(const Job& job) {
    constexpr std::size_t kTask = 64;  // the rest of MX_CONFIG, generously
    return too_long(job, kConfig, shared_part(job).size() + kTask, all_wanted(job),
                    "take fewer workers with more devices each");
}

std::vector<Cause> check(const Job& job) {
    const std::string map_path = "spec." + job.kind->replicas_field;
    std::vector<Cause> causes;
    const bool tunes = spec_of<MXJobSpec>(job).job_mode == kTune;
    if (!job.replicas.empty() && !has(job, kScheduler) && !has(job, kWorker) &&
        !(tunes && has(job, kTuner)))
        causes.push_back(
            required(map_path, tunes ? "no replica here can make the job succeed: add a Tuner"
                                     : "no replica here can make the job succeed: add a Scheduler "
                                       "with servers and workers, or one Worker"));
    if (auto cause = check_length(job)) causes.push_back(*std::move(cause));
    return causes;
}

std::vector<Cause> warn(const Job&) {
    return {deprecated("kind",
                       "MXNet is retired, and the training-operator dropped the kind with "
                       "v1.9; it still runs here")};
}

/// Upstream does not read jobMode, so that a tuning job neither runs nor succeeds; here its Tuner
/// decides.
SuccessPolicy decide(const Job& job) {
    if (spec_of<MXJobSpec>(job).job_mode == kTune && has(job, kTuner)) return {.type = kTuner};
    return {.type = has(job, kScheduler) ? kScheduler : kWorker};
}

}  // namespace

JobKind mxjob() {
    JobKind kind;
    kind.resource = {.group = "kubeflow.org", .version = "v1", .plural = "mxjobs", .kind = "MXJob"};
    kind.replicas_field = "mxReplicaSpecs";
    for (const Type type : {kScheduler, kServer, kWorker, kTunerTracker, kTunerServer, kTuner})
        kind.replica_types.push_back({.name = name_of(type)});
    kind.replica_types[kScheduler].only_replicas = 1;
    // The scheduler numbers the others once, and the remaining ones would wait for one that is
    // gone. Those of a search ask each other again and can be restarted one by one.
    for (const Type type : {kScheduler, kServer, kWorker})
        kind.replica_types[type].restarts_all = true;
    kind.container_name = "mxnet";
    kind.port_name = "mxjob-port";
    kind.port = 9091;
    kind.default_restart_policy = "Never";
    kind.words = {
        .failed = "mxjob {name} is failed because {count} {type} replica(s) failed.",
        .restarting = "mxjob {name} is restarting because {count} {type} replica(s) failed."};
    bind_spec(kind, &MXJobSpec::mx_replica_specs);
    kind.own_defaults = [](Job& job) { spec_of<MXJobSpec>(job).shared = shared_part(job); };
    kind.own_rules = check;
    kind.own_admission_rules = {
        {.expression = "size(variables.replicas) == 0 || variables.replicas.exists(t, "
                       "t.lowerAscii() in (object.spec.?jobMode.orValue('') == 'MXTune' ? "
                       "['scheduler', 'worker', 'tuner'] : ['scheduler', 'worker']))",
         .message = "spec.mxReplicaSpecs: no replica here can make the job succeed: add a "
                    "Scheduler with servers and "
                    "workers, one Worker, or the Tuner of a job that tunes"}};
    kind.own_warnings = warn;
    kind.environment = environment;
    kind.has_master_role = [](const Job&, const ReplicaId& replica) {
        return replica.type == name_of(kServer);
    };
    kind.success_policy = decide;
    return kind;
}

}  // namespace muster::jobs
