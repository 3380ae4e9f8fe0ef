#include <fmt/format.h>

#include "jobs/internal/elastic_range.h"
#include "jobs/internal/spec_binding.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

// PaddleJob, kubeflow.org/v1 (training-operator v1.9: pkg/apis/kubeflow.org/v1/paddlepaddle_*.go,
// pkg/controller.v1/paddlepaddle, pkg/webhooks/paddlepaddle).

namespace muster::jobs {
namespace {

constexpr std::string_view kMaster = "Master";
constexpr std::string_view kWorker = "Worker";

struct PaddleElasticPolicy {
    std::optional<std::int32_t> min_replicas;
    std::optional<std::int32_t> max_replicas;
    std::optional<std::int32_t> max_restarts;
    std::optional<std::vector<json::value>> metrics;
};
BOOST_DESCRIBE_STRUCT(PaddleElasticPolicy, (), (min_replicas, max_replicas, max_restarts, metrics))

FieldNotes field_notes(const PaddleElasticPolicy*) {
    return {
        {.member = "min_replicas",
         .text = "Fewest workers; maxReplicas if unset.",
         .minimum = 1,
         .maximum = kMaxReplicas},
        {.member = "max_replicas",
         .text = "Most workers; minReplicas if unset.",
         .minimum = 1,
         .maximum = kMaxReplicas},
        {.member = "max_restarts", .text = "How often a worker is restarted.", .minimum = 0},
        {.member = "metrics", .text = "What the number of workers is scaled by (autoscaling/v2)."},
    };
}

struct PaddleJobSpec {
    RunPolicy run_policy;
    std::optional<PaddleElasticPolicy> elastic_policy;
    std::map<std::string, ReplicaSpec> paddle_replica_specs;
};
BOOST_DESCRIBE_STRUCT(PaddleJobSpec, (), (run_policy, elastic_policy, paddle_replica_specs))

FieldNotes field_notes(const PaddleJobSpec*) {
    return {
        {.member = "run_policy", .text = "How the job as a whole is run."},
        {.member = "elastic_policy", .text = "Has no effect: no variable and no scaling follow."},
        {.member = "paddle_replica_specs",
         .text = "The replicas by type: Worker alone (collective training), or Master (parameter "
                 "servers) and Worker.",
         .required = true},
    };
}

bool has_master(const Job& job) { return job.replica(std::string(kMaster)) != nullptr; }

void set_defaults(Job& job) {
    auto& elastic = spec_of<PaddleJobSpec>(job).elastic_policy;
    if (elastic) set_range_defaults(job, kWorker, elastic->min_replicas, elastic->max_replicas);
}

std::vector<Cause> check(const Job& job) {
    const auto& elastic = spec_of<PaddleJobSpec>(job).elastic_policy;
    std::vector<Cause> causes;
    if (elastic) check_range(elastic->min_replicas, elastic->max_replicas, causes);
    return causes;
}

std::vector<Cause> warn(const Job& job) {
    if (!spec_of<PaddleJobSpec>(job).elastic_policy) return {};
    return {ineffective("spec.elasticPolicy",
                        "no variable and no scaling follow from it, as in the training-operator: "
                        "the number of workers stays as written")};
}

/// pkg/controller.v1/paddlepaddle/envvar.go. The rendezvous is at the first server if there are
/// servers, else at the first worker. That replica itself gets its own address, as its name may not
/// resolve there yet.
Result<std::vector<Variable>> environment(const Job& job, const ReplicaId& replica) {
    const std::string_view host = has_master(job) ? kMaster : kWorker;
    TRY(const std::int32_t port, port_of(job, host));
    Variables variables;
    static constexpr std::string_view kMeeting =
        "the first master, else worker 0, and its port named master";
    variables.add("PYTHONUNBUFFERED", "1", "always: Python's output comes at once");
    variables.add("PADDLE_JOB_ID", job.metadata.name, "the job's name");
    variables.add("PADDLE_NNODES", std::to_string(job.total_replicas()), "all pods");
    if (replica.type == host && replica.index == 0) {
        variables.add_field("POD_IP_DUMMY", "status.podIP", "the pod's own address");
        variables.add("PADDLE_MASTER", fmt::format("$(POD_IP_DUMMY):{}", port), kMeeting);
    } else {
        variables.add("PADDLE_MASTER",
                      fmt::format("{}:{}", replica_name(job, {std::string(host), 0}), port),
                      kMeeting);
    }
    if (has_master(job))
        variables.add(replica.type == kMaster ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", "1",
                      "one a pod, in a job with a master");
    return variables.take();
}

SuccessPolicy decide(const Job& job) {
    if (has_master(job)) return {.type = 0};
    return {.type = 1, .with_namespace = true};
}

}  // namespace

JobKind paddlejob() {
    JobKind kind;
    kind.resource = {
        .group = "kubeflow.org", .version = "v1", .plural = "paddlejobs", .kind = "PaddleJob"};
    kind.replicas_field = "paddleReplicaSpecs";
    // paddle.distributed.launch gathers all pods once: a pod that starts again waits for peers that
    // don't come, and they wait for it.
    kind.replica_types = {{.name = std::string(kMaster), .restarts_all = true},
                          {.name = std::string(kWorker), .restarts_all = true}};
    kind.container_name = "paddle";
    kind.port_name = "master";
    kind.port = 36543;
    kind.default_restart_policy = "OnFailure";
    kind.scaled_type = kWorker;
    kind.status_selector = true;
    bind_spec(kind, &PaddleJobSpec::paddle_replica_specs);
    kind.own_defaults = set_defaults;
    kind.own_rules = check;
    kind.own_admission_rules = {range_admission_rule()};
    kind.own_warnings = warn;
    kind.environment = environment;
    kind.has_master_role = [](const Job&, const ReplicaId& replica) {
        return replica.type == kMaster;
    };
    kind.success_policy = decide;
    return kind;
}

}  // namespace muster::jobs
