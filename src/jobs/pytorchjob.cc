#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/parse_number.h"
#include "jobs/internal/agents/agent_token.h"
#include "jobs/internal/agents/agents_master.h"
#include "jobs/internal/agents/elastic_annotation.h"
#include "jobs/internal/agents/master_in_pod.h"
#include "jobs/internal/elastic_range.h"
#include "jobs/internal/spec_binding.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"
#include "kube/values/field_path.h"

// PyTorchJob, kubeflow.org/v1 (training-operator v1.9: pkg/apis/kubeflow.org/v1/pytorch_*.go,
// pkg/controller.v1/pytorch, pkg/webhooks/pytorch).

namespace muster::jobs {
namespace {

constexpr std::string_view kMaster = "Master";
constexpr std::string_view kWorker = "Worker";

struct RdzvConf {
    std::string key;
    std::string value;
};
BOOST_DESCRIBE_STRUCT(RdzvConf, (), (key, value))

FieldNotes field_notes(const RdzvConf*) {
    return {{.member = "key", .text = "What is set, as torchrun's --rdzv_conf names it."},
            {.member = "value", .text = "What it is set to."}};
}

struct ElasticPolicy {
    std::optional<std::int32_t> min_replicas;
    std::optional<std::int32_t> max_replicas;
    std::string rdzv_backend;
    std::optional<std::int32_t> rdzv_port;
    std::optional<std::string> rdzv_host;
    std::optional<std::string> rdzv_id;
    std::optional<std::vector<RdzvConf>> rdzv_conf;
    std::optional<bool> standalone;
    std::optional<std::int32_t> n_proc_per_node;
    std::optional<std::int32_t> max_restarts;
    std::optional<std::vector<json::value>> metrics;
    /// Not from the manifest: neither end of the range is written.
    bool range_follows = false;
};
BOOST_DESCRIBE_STRUCT(ElasticPolicy, (),
                      (min_replicas, max_replicas, rdzv_backend, rdzv_port, rdzv_host, rdzv_id,
                       rdzv_conf, standalone, n_proc_per_node, max_restarts, metrics))

constexpr std::string_view json_name(const ElasticPolicy*, std::string_view member) {
    return member == "rdzv_id" ? "rdzvId" : "";
}

FieldNotes field_notes(const ElasticPolicy*) {
    return {
        {.member = "min_replicas",
         .text = "Fewest workers that training goes on with; maxReplicas if unset.",
         .minimum = 1,
         .maximum = kMaxReplicas},
        {.member = "max_replicas",
         .text = "Most workers that take part; minReplicas if unset.",
         .minimum = 1,
         .maximum = kMaxReplicas},
        {.member = "rdzv_backend",
         .text = "Rendezvous of torchrun: c10d (default), etcd, etcd-v2."},
        {.member = "rdzv_port",
         .text = "Port of the rendezvous; the worker's pytorchjob-port if unset.",
         .minimum = 1,
         .maximum = 65535},
        {.member = "rdzv_host", .text = "Host of the rendezvous; worker 0 if unset."},
        {.member = "rdzv_id", .text = "Identifies the rendezvous to torchrun."},
        {.member = "rdzv_conf", .text = "Further settings of the rendezvous."},
        {.member = "standalone", .text = "Start a rendezvous inside each pod."},
        {.member = "n_proc_per_node", .text = "Deprecated: use spec.nprocPerNode.", .minimum = 1},
        {.member = "max_restarts",
         .text = "How often torchrun restarts its processes.",
         .minimum = 0},
        {.member = "metrics", .text = "What the number of workers is scaled by (autoscaling/v2)."},
    };
}

struct PyTorchJobSpec {
    RunPolicy run_policy;
    std::optional<ElasticPolicy> elastic_policy;
    std::map<std::string, ReplicaSpec> pytorch_replica_specs;
    std::optional<std::string> nproc_per_node;
};
BOOST_DESCRIBE_STRUCT(PyTorchJobSpec, (),
                      (run_policy, elastic_policy, pytorch_replica_specs, nproc_per_node))

FieldNotes field_notes(const PyTorchJobSpec*) {
    return {
        {.member = "run_policy", .text = "How the job as a whole is run."},
        {.member = "elastic_policy", .text = "Lets the number of workers change while it trains."},
        {.member = "pytorch_replica_specs",
         .text = "The replicas by type: Master (one at most) and Worker.",
         .required = true},
        {.member = "nproc_per_node",
         .text = "Processes per pod for torchrun: auto (default), cpu, gpu, or a number."},
    };
}

bool has_master(const Job& job) { return job.replica(std::string(kMaster)) != nullptr; }

// --- defaults

void set_defaults(Job& job) {
    auto& spec = spec_of<PyTorchJobSpec>(job);
    auto& elastic = spec.elastic_policy;
    if (elastic) {
        if (!elastic->min_replicas && !elastic->max_replicas) elastic->range_follows = true;
        set_range_defaults(job, kWorker, elastic->min_replicas, elastic->max_replicas);
    }
    const bool deprecated_is_set = elastic && elastic->n_proc_per_node;
    if (!spec.nproc_per_node && !deprecated_is_set) spec.nproc_per_node = "auto";
    add_agents_master(job);
}

// --- rules

/// The value if it is a number: what upstream's WORLD_SIZE multiplies by.
std::optional<std::int32_t> number(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    const std::string_view digits = *text;
    return parse_number<std::int32_t>(digits.starts_with('+') ? digits.substr(1) : digits);
}

std::vector<Cause> check(const Job& job) {
    const auto& spec = spec_of<PyTorchJobSpec>(job);
    std::vector<Cause> causes;
    if (const auto np = number(spec.nproc_per_node); np && *np < 1)
        causes.push_back(
            invalid("spec.nprocPerNode",
                    fmt::format("must be auto, cpu, gpu or a number from 1 on, got {}", *np)));
    for (Cause& cause : check_agents(job)) causes.push_back(std::move(cause));
    if (!spec.elastic_policy) return causes;
    const ElasticPolicy& elastic = *spec.elastic_policy;
    if (!job.replicas.empty() && job.replica(std::string(kWorker)) == nullptr)
        causes.push_back(required("spec.pytorchReplicaSpecs.Worker",
                                  "an elasticPolicy needs workers; add them or remove the "
                                  "elasticPolicy"));
    check_range(elastic.min_replicas, elastic.max_replicas, causes);
    if (elastic.n_proc_per_node && spec.nproc_per_node)
        causes.push_back(forbidden("spec.elasticPolicy.nProcPerNode",
                                   "spec.nprocPerNode is set too; keep only that one"));
    return causes;
}

/// A range counts all pods that torchrun waits for, also the master's; upstream takes it for one
/// of workers.
std::optional<Cause> pods_beyond_range(const Job& job, const ElasticPolicy& elastic,
                                       std::int32_t workers) {
    const auto most = elastic.max_replicas ? elastic.max_replicas : elastic.min_replicas;
    if (!has_master(job) || !most || workers + 1 <= *most) return std::nullopt;
    return doubtful(
        fmt::format("spec.elasticPolicy.{}", elastic.max_replicas ? "maxReplicas" : "minReplicas"),
        fmt::format("torchrun takes {} pods at most, and the Master with {} workers makes {}: at "
                    "least one is left out and waits. Count the Master too",
                    *most, workers, workers + 1));
}

/// Upstream sets the variables of ranks for a Master or an elasticPolicy only.
std::optional<Cause> workers_without_ranks(const Job& job, std::int32_t workers) {
    const auto& spec = spec_of<PyTorchJobSpec>(job);
    if (workers < 2 || has_master(job) || spec.elastic_policy) return std::nullopt;
    return doubtful(
        "spec.pytorchReplicaSpecs",
        fmt::format("without a Master and without an elasticPolicy pods get no RANK, WORLD_SIZE "
                    "and MASTER_ADDR: each of the {} workers would train alone, or fail where it "
                    "calls init_process_group. Make one of them the Master",
                    workers));
}

std::vector<Cause> warn(const Job& job) {
    const auto& spec = spec_of<PyTorchJobSpec>(job);
    std::vector<Cause> found;
    const ReplicaSpec* worker = job.replica(std::string(kWorker));
    const std::int32_t workers = worker == nullptr ? 0 : worker->replicas.value_or(1);
    if (worker != nullptr && workers == 0 && !has_master(job))
        found.push_back(doubtful(job.replica_path(std::string(kWorker)) + ".replicas",
                                 "the job has no pods, and waits until there are some"));
    if (spec.nproc_per_node && !number(spec.nproc_per_node) && *spec.nproc_per_node != "auto" &&
        *spec.nproc_per_node != "cpu" && *spec.nproc_per_node != "gpu")
        found.push_back(doubtful("spec.nprocPerNode",
                                 fmt::format("torchrun may not know \"{}\"; it takes auto, cpu, "
                                             "gpu or a number",
                                             *spec.nproc_per_node)));
    if (auto cause = workers_without_ranks(job, workers)) found.push_back(*std::move(cause));
    if (auto cause = ineffective_agent(job)) found.push_back(*std::move(cause));
    for (Cause& cause : ineffective_elastic(job)) found.push_back(std::move(cause));
    if (auto cause = lacks_agents_master(job)) found.push_back(*std::move(cause));
    if (!spec.elastic_policy) return found;
    const ElasticPolicy& elastic = *spec.elastic_policy;
    if (elastic.n_proc_per_node)
        found.push_back(deprecated("spec.elasticPolicy.nProcPerNode", "use spec.nprocPerNode"));
    if (elastic.metrics && !job.platform.cluster)
        found.push_back(ineffective("spec.elasticPolicy.metrics",
                                    "has no effect on one machine, where nothing measures them: "
                                    "the number of workers stays as written"));
    if (elastic.standalone.value_or(false))
        found.push_back(doubtful("spec.elasticPolicy.standalone",
                                 "PET_STANDALONE is set to an empty text, as upstream sets it: "
                                 "muster-run takes it for yes, PyTorch's torchrun ends at it; "
                                 "write torchrun --standalone instead"));
    if (auto cause = pods_beyond_range(job, elastic, workers)) found.push_back(*std::move(cause));
    if (worker != nullptr && (workers < elastic.min_replicas.value_or(workers) ||
                              workers > elastic.max_replicas.value_or(workers)))
        found.push_back(doubtful(job.replica_path(std::string(kWorker)) + ".replicas",
                                 fmt::format("{} is outside of the elasticPolicy's minReplicas and "
                                             "maxReplicas; torchrun waits for the minimum",
                                             workers)));
    return found;
}

// --- environment

std::string joined(const std::vector<RdzvConf>& conf) {
    std::string text;
    for (const RdzvConf& entry : conf)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", entry.key, entry.value);
    return text;
}

/// Our agents meet at their master, or at one of theirs: they take the place of the server of etcd that a manifest names.
ElasticPolicy for_agents(const Job& job, ElasticPolicy elastic) {
    if (gets_agents(job) && elastic.rdzv_backend.starts_with("etcd")) {
        elastic.rdzv_backend.clear();
        elastic.rdzv_host.reset();
        elastic.rdzv_port.reset();
    }
    return elastic;
}

Result<void> add_elastic(const Job& job, const ElasticPolicy& elastic, Variables& variables) {
    const std::string host =
        elastic.rdzv_host.value_or(replica_name(job, {std::string(kWorker), 0}));
    std::int32_t port = elastic.rdzv_port.value_or(0);
    if (!elastic.rdzv_port) {
        TRY(port, port_of(job, kWorker));
    }
    variables.add("PET_RDZV_ENDPOINT", fmt::format("{}:{}", host, port),
                  "elasticPolicy.rdzvHost, else worker 0; rdzvPort, else its pytorchjob-port");
    variables.add("PET_RDZV_BACKEND", elastic.rdzv_backend.empty() ? "c10d" : elastic.rdzv_backend,
                  "elasticPolicy.rdzvBackend, else c10d");
    // Upstream leaves the master out here too, so that one of the pods waits without end.
    const std::int32_t master = elastic.range_follows && has_master(job) ? 1 : 0;
    variables.add("PET_NNODES",
                  fmt::format("{}:{}", elastic.min_replicas.value_or(0) + master,
                              elastic.max_replicas.value_or(0) + master),
                  "elasticPolicy.minReplicas to maxReplicas, else all pods");
    if (elastic.max_restarts)
        variables.add("PET_MAX_RESTARTS", std::to_string(*elastic.max_restarts),
                      "elasticPolicy.maxRestarts");
    if (elastic.n_proc_per_node)
        variables.add("PET_NPROC_PER_NODE", std::to_string(*elastic.n_proc_per_node),
                      "elasticPolicy.nProcPerNode");
    if (elastic.rdzv_id) variables.add("PET_RDZV_ID", *elastic.rdzv_id, "elasticPolicy.rdzvId");
    if (elastic.rdzv_conf && !elastic.rdzv_conf->empty())
        variables.add("PET_RDZV_CONF", joined(*elastic.rdzv_conf), "elasticPolicy.rdzvConf");
    if (elastic.standalone.value_or(false))
        variables.add("PET_STANDALONE", "", "elasticPolicy.standalone");
    return {};
}

/// pkg/controller.v1/pytorch/{envvar,elastic}.go. RANK counts pods and WORLD_SIZE counts processes,
/// as upstream does: with several processes in a pod only torchrun can use them (issues 1790,
/// 1836).
Result<std::vector<Variable>> environment(const Job& job, const ReplicaId& replica) {
    const auto& spec = spec_of<PyTorchJobSpec>(job);
    if (replica.type == kAgentsMaster) return std::vector<Variable>();
    const std::int32_t pods = job.total_replicas();
    Variables variables;
    variables.add("PYTHONUNBUFFERED", "1", "always: Python's output comes at once");
    if (has_master(job)) {
        TRY(const std::int32_t port, port_of(job, kMaster));
        const std::string address = replica_name(job, {std::string(kMaster), 0});
        const std::int64_t processes = number(spec.nproc_per_node).value_or(1);
        const std::int32_t rank = replica.type == kMaster ? replica.index : replica.index + 1;
        static constexpr std::string_view kPort = "the master's port named pytorchjob-port";
        static constexpr std::string_view kAddress = "the master's name";
        static constexpr std::string_view kRank = "0 for the master, index + 1 for a worker";
        variables.add("MASTER_PORT", std::to_string(port), kPort);
        variables.add("PET_MASTER_PORT", std::to_string(port), kPort);
        variables.add("MASTER_ADDR", address, kAddress);
        variables.add("PET_MASTER_ADDR", address, kAddress);
        variables.add("WORLD_SIZE", std::to_string(pods * processes),
                      "all pods, times nprocPerNode where that is a number");
        variables.add("RANK", std::to_string(rank), kRank);
        variables.add("PET_NODE_RANK", std::to_string(rank), kRank);
    }
    if (spec.nproc_per_node)
        variables.add("PET_NPROC_PER_NODE", *spec.nproc_per_node, "nprocPerNode, else auto");
    if (spec.elastic_policy)
        TRY_VOID(add_elastic(job, for_agents(job, *spec.elastic_policy), variables));
    else
        variables.add("PET_NNODES", std::to_string(pods), "all pods");
    if (has_agents_master(job)) {
        variables.add("MUSTER_MASTER_ADDR", agents_master_address(job),
                      "the service of the master that muster.dev/elastic adds");
        variables.add("MUSTER_MASTER_JOB", job.metadata.name, "the job's name");
    }
    return variables.take();
}

/// The token follows the agent, or the master.
void finish(const Job& job, const ReplicaId& replica, kube::Pod& pod) {
    if (replica.type == kAgentsMaster)
        put_agents_master(job, pod);
    else
        put_agent(job, pod);
    add_agent_token(job, replica, pod);
}

std::vector<OwnedObject> own_objects(const Job& job, const std::vector<SeenPod>& seen) {
    std::vector<OwnedObject> objects = agents_master_objects(job);
    std::ranges::move(agent_token(job, seen), std::back_inserter(objects));
    return objects;
}

bool is_master_role(const Job& job, const ReplicaId& replica) {
    return has_master(job) ? replica.type == kMaster
                           : replica.type == kWorker && replica.index == 0;
}

/// The master decides if there is one, otherwise the workers; in an elastic job the first worker
/// that succeeds is enough.
SuccessPolicy decide(const Job& job) {
    if (has_master(job)) return {.type = 0};
    const bool elastic = spec_of<PyTorchJobSpec>(job).elastic_policy.has_value();
    return {.type = 1,
            .enough = elastic ? SuccessPolicy::Enough::kAny : SuccessPolicy::Enough::kAll,
            .with_namespace = true};
}

std::optional<Elasticity> elasticity(const Job& job) {
    const auto& elastic = spec_of<PyTorchJobSpec>(job).elastic_policy;
    if (!elastic) return std::nullopt;
    return Elasticity{.min_replicas = elastic->min_replicas.value_or(0),
                      .max_replicas = elastic->max_replicas.value_or(0),
                      .metrics = elastic->metrics};
}

}  // namespace

JobKind pytorchjob() {
    JobKind kind;
    kind.resource = {
        .group = "kubeflow.org", .version = "v1", .plural = "pytorchjobs", .kind = "PyTorchJob"};
    kind.replicas_field = "pytorchReplicaSpecs";
    kind.replica_types = {{.name = std::string(kMaster), .only_replicas = 1},
                          {.name = std::string(kWorker)},
                          agents_master_type()};
    kind.container_name = "pytorch";
    kind.port_name = "pytorchjob-port";
    kind.port = 23456;
    kind.default_restart_policy = "OnFailure";
    kind.scaled_type = kWorker;
    kind.status_selector = true;
    bind_spec(kind, &PyTorchJobSpec::pytorch_replica_specs);
    kind.own_defaults = set_defaults;
    kind.own_rules = check;
    kind.own_admission_rules = {
        {.expression = "!object.spec.?nprocPerNode.orValue('').matches("
                       "'^([+]?0{1,9}|[+]?-[0-9]{1,9})$')",
         .message = "spec.nprocPerNode: must be auto, cpu, gpu or a number from 1 on"},
        {.expression = "!has(object.spec.elasticPolicy) || size(variables.replicas) == 0 || "
                       "variables.replicas.exists(t, t.lowerAscii() == 'worker')",
         .message = "spec.pytorchReplicaSpecs.Worker: an elasticPolicy needs workers; add them or "
                    "remove the elasticPolicy"},
        range_admission_rule(),
        {.expression = "!has(object.spec.nprocPerNode) || "
                       "!object.spec.?elasticPolicy.?nProcPerNode.hasValue()",
         .message = "spec.elasticPolicy.nProcPerNode: spec.nprocPerNode is set too; keep only that "
                    "one"}};
    kind.own_warnings = warn;
    kind.environment = environment;
    kind.has_master_role = is_master_role;
    kind.success_policy = decide;
    kind.elasticity = elasticity;
    kind.token_types = {kube::types::kSecrets};
    kind.master_types = master_object_types();
    kind.owned_objects = own_objects;
    kind.has_owned_objects = [](const Job& job) {
        return has_agents_master(job) || has_agent_token(job);
    };
    kind.finish_pod = finish;
    return kind;
}

}  // namespace muster::jobs
