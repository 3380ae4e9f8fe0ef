#include <fmt/format.h>

#include "jobs/internal/elasticjob/elastic_master.h"
#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/elasticjob/master_annotations.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

// The variables of upstream's pods (dlrover/python/master/scaler/pod_scaler.py, _create_pod;
// dlrover/python/common/constants.py, NodeEnv).

namespace muster::jobs {
namespace {

/// Ours: the agent tells it to the job's master.
constexpr const char* kNodeName = "MUSTER_NODE_NAME";

std::string replica_endpoints(const Job& job, std::string_view type) {
    const std::string name(type);
    const std::int32_t port = port_or_default(job, name);
    std::string list = "[";
    for (std::int32_t i = 0; i < wanted(job, name); ++i)
        list += fmt::format("{}\"{}.{}:{}\"", i == 0 ? "" : ",", replica_name(job, {name, i}),
                            job.service_domain(), port);
    return list + "]";
}

std::string tf_config(const Job& job, const ReplicaId& replica) {
    return fmt::format(R"({{"cluster":{},"task":{{"type":"{}","index":{}}}}})",
                       elastic_spec(job).tf_cluster, replica.type, replica.rank());
}

/// How many nodes meet: the workers, and a chief among them.
std::int32_t nodes_of(const Job& job) {
    return wanted(job, std::string(kElasticWorker)) + wanted(job, std::string(kElasticChief));
}

void add_identity(const Job& job, const ReplicaId& replica, Variables& variables) {
    variables.add_field("POD_IP", "status.podIP", "the pod's address");
    variables.add_field("NODE_IP", "status.hostIP", "the address of its node");
    variables.add_field("POD_NAME", "metadata.name", "the pod's name");
    variables.add("ELASTIC_JOB_NAME", job.metadata.name, "the job's name");
    variables.add("JOB_UID", job.metadata.uid, "the job's uid");
    variables.add("GRPC_ENABLE_FORK_SUPPORT", "false", "always, as upstream sets it");
    variables.add("NODE_TYPE", replica.type, "the replica type");
    variables.add("NODE_ID", std::to_string(replica.index),
                  "the replica's id, the last of its name");
}

void add_place(const Job& job, const ReplicaId& replica, Variables& variables) {
    static constexpr std::string_view kNumber = "the workers, with the chief";
    static constexpr std::string_view kRank = "the rank of the replica, which a replacement keeps";
    const std::string number = std::to_string(nodes_of(job));
    const std::string rank = std::to_string(replica.rank());
    variables.add("NODE_NUM", number, kNumber);
    variables.add("NODE_RANK", rank, kRank);
    if (strategy_of(job) == ElasticStrategy::kAllreduce) {
        variables.add("WORLD_SIZE", number, "the workers: their agents set that of processes");
        variables.add("RANK", rank, "the rank of the replica: agents set that of processes");
    }
    variables.add("WORKER_TYPE", replica.type, "NODE_TYPE, for older programs");
    variables.add("WORKER_ID", std::to_string(replica.index), "NODE_ID, for older programs");
    variables.add("WORKER_NUM", number, "NODE_NUM, for older programs");
    variables.add("WORKER_RANK", rank, "NODE_RANK, for older programs");
}

void add_master(const Job& job, Variables& variables) {
    variables.add("DLROVER_MASTER_ADDR", elastic_master_address(job), "the service of the master");
    variables.add("DLROVER_MASTER_SERVICE_TYPE", master_setting(job, "service_type"),
                  "the annotation service_type, else grpc");
    variables.add("DLROVER_TRAINING_ELASTIC_MODE", master_setting(job, "training_elastic_mode"),
                  "the annotation training_elastic_mode, else base");
    if (std::string extension = master_setting(job, "dynamic_failover_extension");
        !extension.empty())
        variables.add("DLROVER_EXTENSION_DYNAMIC_FAILOVER", std::move(extension),
                      "the annotation dynamic_failover_extension");
    variables.add("MONITOR_ENABLED", "true", "always, as upstream sets it");
}

}  // namespace

/// An evaluator is no part of the cluster, as TensorFlow has it (upstream lists it).
std::string tf_cluster_of(const Job& job) {
    if (strategy_of(job) != ElasticStrategy::kParameterServer) return {};
    std::string text = "{";
    for (const std::string_view type : {kElasticChief, kElasticPs, kElasticWorker})
        if (wanted(job, std::string(type)) > 0)
            text += fmt::format("{}\"{}\":{}", text.size() > 1 ? "," : "", type,
                                replica_endpoints(job, type));
    return text + "}";
}

Result<std::vector<Variable>> elastic_environment(const Job& job, const ReplicaId& replica) {
    const ElasticJobSpec& spec = elastic_spec(job);
    const ElasticStrategy strategy = strategy_of(job);
    std::vector<Variable> all;
    for (const auto& [key, variable] : spec.envs) all.push_back({variable, "spec.envs"});
    Variables variables;
    add_identity(job, replica, variables);
    if (!spec.brain_service.empty())
        variables.add("DLROVER_BRAIN_SERVICE_ADDR", spec.brain_service, "brainService");
    if (replica.type != kElasticMaster) {
        add_place(job, replica, variables);
        if (strategy != ElasticStrategy::kLocal) add_master(job, variables);
        if (has_record_object(job))
            variables.add_field(kNodeName, "spec.nodeName",
                                "its node, for the master's wish to leave out a bad one");
        if (strategy == ElasticStrategy::kParameterServer)
            variables.add("TF_CONFIG", tf_config(job, replica),
                          "chief, ps and worker, and the replica's own task");
    }
    std::ranges::move(variables.take(), std::back_inserter(all));
    return all;
}

}  // namespace muster::jobs
