#include "jobs/internal/spec_binding.h"
#include "jobs/internal/variables.h"

// JAXJob, kubeflow.org/v1 (training-operator v1.9: pkg/apis/kubeflow.org/v1/jax_*.go,
// pkg/controller.v1/jax, pkg/webhooks/jax).

namespace muster::jobs {
namespace {

constexpr std::string_view kWorker = "Worker";

struct JAXJobSpec {
    RunPolicy run_policy;
    std::map<std::string, ReplicaSpec> jax_replica_specs;
};
BOOST_DESCRIBE_STRUCT(JAXJobSpec, (), (run_policy, jax_replica_specs))

FieldNotes field_notes(const JAXJobSpec*) {
    return {{.member = "run_policy", .text = "How the job as a whole is run."},
            {.member = "jax_replica_specs",
             .text = "The replicas by type: Worker, one for each process.",
             .required = true}};
}

/// pkg/controller.v1/jax/envvar.go. The first worker is the coordinator too.
Result<std::vector<Variable>> environment(const Job& job, const ReplicaId& replica) {
    TRY(const std::int32_t port, port_of(job, kWorker));
    Variables variables;
    variables.add("PYTHONUNBUFFERED", "1", "always: Python's output comes at once");
    variables.add("COORDINATOR_PORT", std::to_string(port), "worker 0's port named jaxjob-port");
    variables.add("COORDINATOR_ADDRESS", replica_name(job, {std::string(kWorker), 0}),
                  "worker 0's name");
    variables.add("NUM_PROCESSES", std::to_string(job.total_replicas()), "all pods");
    variables.add("PROCESS_ID", std::to_string(replica.index), "the worker's index");
    return variables.take();
}

}  // namespace

JobKind jaxjob() {
    JobKind kind;
    kind.resource = {
        .group = "kubeflow.org", .version = "v1", .plural = "jaxjobs", .kind = "JAXJob"};
    kind.replicas_field = "jaxReplicaSpecs";
    kind.replica_types = {{.name = std::string(kWorker)}};
    kind.container_name = "jax";
    kind.port_name = "jaxjob-port";
    kind.port = 6666;
    kind.default_restart_policy = "Never";
    kind.scaled_type = kWorker;
    kind.status_selector = true;
    bind_spec(kind, &JAXJobSpec::jax_replica_specs);
    kind.environment = environment;
    kind.has_master_role = [](const Job&, const ReplicaId& replica) { return replica.index == 0; };
    kind.success_policy = [](const Job&) { return SuccessPolicy{.with_namespace = true}; };
    return kind;
}

}  // namespace muster::jobs
