#include <fmt/format.h>

#include "jobs/internal/spec_binding.h"
#include "jobs/internal/variables.h"

// XGBoostJob, kubeflow.org/v1 (training-operator v1.9: pkg/apis/kubeflow.org/v1/xgboost_*.go,
// pkg/controller.v1/xgboost, pkg/webhooks/xgboost). LightGBM also runs under it, by WORKER_ADDRS.

namespace muster::jobs {
namespace {

constexpr std::string_view kMaster = "Master";
constexpr std::string_view kWorker = "Worker";
constexpr std::string_view kAddresses = "WORKER_ADDRS";

struct XGBoostJobSpec {
    RunPolicy run_policy;
    std::map<std::string, ReplicaSpec> xgb_replica_specs;
    /// Not from the manifest: what every replica has, made once with the defaults.
    std::string worker_addresses;
};
BOOST_DESCRIBE_STRUCT(XGBoostJobSpec, (), (run_policy, xgb_replica_specs))

FieldNotes field_notes(const XGBoostJobSpec*) {
    return {{.member = "run_policy", .text = "How the job as a whole is run."},
            {.member = "xgb_replica_specs",
             .text = "The replicas by type: Master (exactly one) and Worker.",
             .required = true}};
}

std::string worker_addresses(const Job& job) {
    std::string list;
    for (std::int32_t i = 0; i < wanted(job, std::string(kWorker)); ++i)
        list +=
            fmt::format("{}{}", i == 0 ? "" : ",", replica_name(job, {std::string(kWorker), i}));
    return list;
}

std::vector<Cause> check(const Job& job) {
    const std::int32_t workers = wanted(job, std::string(kWorker));
    const std::size_t bytes = kAddresses.size() + 1 + worker_addresses(job).size();
    if (auto cause =
            too_long(job, kAddresses, bytes, workers, "take fewer workers with more threads each"))
        return {*std::move(cause)};
    return {};
}

/// pkg/controller.v1/xgboost/xgboost.go. The tracker is the user's own, on rank 0.
Result<std::vector<Variable>> environment(const Job& job, const ReplicaId& replica) {
    TRY(const std::int32_t port, port_of(job, kMaster));
    const std::int32_t first = replica.type == kWorker ? wanted(job, std::string(kMaster)) : 0;
    Variables variables;
    variables.add("MASTER_PORT", std::to_string(port), "the master's port named xgboostjob-port");
    variables.add("MASTER_ADDR", replica_name(job, {std::string(kMaster), 0}), "the master's name");
    variables.add("WORLD_SIZE", std::to_string(job.total_replicas()), "all pods");
    variables.add("RANK", std::to_string(first + replica.index),
                  "0 for the master, index + 1 for a worker");
    variables.add("PYTHONUNBUFFERED", "1", "always: Python's output comes at once");
    if (job.total_replicas() > 1) {
        TRY(const std::int32_t worker_port, port_of(job, kWorker));
        variables.add("WORKER_PORT", std::to_string(worker_port),
                      "the workers' port named xgboostjob-port");
        variables.add(kAddresses, spec_of<XGBoostJobSpec>(job).worker_addresses,
                      "the names of all workers");
    }
    return variables.take();
}

}  // namespace

JobKind xgboostjob() {
    JobKind kind;
    kind.resource = {
        .group = "kubeflow.org", .version = "v1", .plural = "xgboostjobs", .kind = "XGBoostJob"};
    kind.replicas_field = "xgbReplicaSpecs";
    // A ring of all-reduce has no place for a latecomer. Its ranks notice the loss of a peer by
    // time-outs of a minute and more.
    kind.replica_types = {
        {.name = std::string(kMaster), .only_replicas = 1, .required = true, .restarts_all = true},
        {.name = std::string(kWorker), .restarts_all = true}};
    kind.container_name = "xgboost";
    kind.port_name = "xgboostjob-port";
    kind.port = 9999;
    kind.default_restart_policy = "Never";
    kind.runs_before_it_succeeds = true;
    bind_spec(kind, &XGBoostJobSpec::xgb_replica_specs);
    kind.own_defaults = [](Job& job) {
        spec_of<XGBoostJobSpec>(job).worker_addresses = worker_addresses(job);
    };
    kind.own_rules = check;
    kind.environment = environment;
    kind.has_master_role = [](const Job&, const ReplicaId& replica) {
        return replica.type == kMaster;
    };
    kind.success_policy = [](const Job&) { return SuccessPolicy{}; };
    return kind;
}

}  // namespace muster::jobs
