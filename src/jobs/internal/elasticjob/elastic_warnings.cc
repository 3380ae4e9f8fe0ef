#include <fmt/format.h>

#include <algorithm>

#include "jobs/internal/agents/agent_in_pods.h"
#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/elasticjob/master_annotations.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"
#include "kube/values/field_path.h"

// What a field does not do here is said: upstream is silent about those that it does not read.

namespace muster::jobs {
namespace {

using Found = std::vector<Cause>;

void check_optimizer(const ElasticJobSpec& spec, Found& found) {
    if (spec.optimize_mode == "manunal")
        found.push_back(deprecated("spec.optimizeMode", "read as \"manual\"; write it this way"));
    if (spec.optimize_mode == "cluster")
        found.push_back(ineffective("spec.optimizeMode",
                                    "has no effect: no Brain adapts resources, they stay as "
                                    "written"));
    if (!spec.brain_service.empty())
        found.push_back(ineffective("spec.brainService",
                                    "has no effect here: the pods have it in "
                                    "DLROVER_BRAIN_SERVICE_ADDR, and nothing else reads it"));
}

/// Upstream's definition has these, its operator had them up to v0.4, and nothing read them.
void check_old_switches(const ElasticJobSpec& spec, Found& found) {
    if (spec.enable_elastic_scheduling.has_value())
        found.push_back(ineffective("spec.enableElasticScheduling",
                                    "has no effect: the number of pods follows edits and plans "
                                    "in any case; remove it"));
    if (spec.enable_dynamic_sharding.has_value())
        found.push_back(ineffective("spec.enableDynamicSharding",
                                    "has no effect: no data shards are handed out; remove it"));
}

void check_replica(const Job& job, const std::string& type, const ElasticReplicaSpec& spec,
                   Found& found) {
    const std::string path = job.replica_path(type);
    const bool is_master = type == kElasticMaster;
    if (spec.auto_scale.value_or(false))
        found.push_back(ineffective(path + ".autoScale",
                                    "has no effect: the number of pods stays as written until "
                                    "it is changed"));
    if (spec.restart_timeout.value_or(0) > 0)
        found.push_back(ineffective(path + ".restartTimeout",
                                    "has no effect: a replica restarts however long it takes"));
    if (is_master && spec.restart_count)
        found.push_back(ineffective(path + ".restartCount",
                                    "has no effect: the master is made again as long as the job "
                                    "lives"));
    if (is_master && !spec.restart_policy.empty() && !has_own_master(job))
        found.push_back(ineffective(path + ".restartPolicy",
                                    "has no effect: the master is made again as long as the job "
                                    "lives, and what it says at its end is the job's"));
    if (!spec.critical_nodes.empty() && type != kElasticPs && type != kElasticWorker)
        found.push_back(ineffective(path + ".criticalNodes",
                                    fmt::format("has no effect: the {} is always critical", type)));
    else if (spec.critical_nodes.find(':') != std::string::npos)
        found.push_back(doubtful(path + ".criticalNodes",
                                 "single ranks are not told apart: each replica of this type is "
                                 "critical, and restartCount says how often it restarts"));
    if (job.platform.cluster) return;
    if (!spec.batch_scheduler.empty() && spec.batch_scheduler != "default")
        found.push_back(ineffective(path + ".BatchScheduler",
                                    "has no effect on one machine, where all pods of a job start "
                                    "together"));
    if (!spec.priority.empty())
        found.push_back(ineffective(path + ".priority",
                                    "has no effect on one machine, where no pod makes room for "
                                    "another"));
}

void check_shape(const Job& job, Found& found) {
    const ElasticStrategy strategy = strategy_of(job);
    const std::string ps(kElasticPs);
    const std::string worker(kElasticWorker);
    if (strategy == ElasticStrategy::kAllreduce && job.replica(ps) != nullptr)
        found.push_back(doubtful(job.replica_path(ps),
                                 "AllreduceStrategy tells no replica of these pods; write "
                                 "ParameterServerStrategy for parameter servers"));
    if (job.replica(worker) != nullptr && wanted(job, worker) == 0 &&
        job.replica(std::string(kElasticChief)) == nullptr)
        found.push_back(doubtful(job.replica_path(worker) + ".replicas",
                                 "the job has no worker, and waits until there are some"));
    if (strategy == ElasticStrategy::kLocal && job.replica(std::string(kElasticMaster)) != nullptr)
        found.push_back(doubtful(job.replica_path(std::string(kElasticMaster)),
                                 "a job with the strategy Local needs no master"));
}

/// The template's own program, which ours replaces.
void check_replaced_program(const Job& job, Found& found) {
    const std::string type(kElasticMaster);
    const ReplicaSpec* master = job.replica(type);
    if (master == nullptr) return;
    const kube::PodSpec& pod = master->template_.spec;
    const kube::Container* main = default_container(*job.kind, pod);
    if (main == nullptr) return;
    const std::string path =
        kube::item_path(job.replica_path(type) + ".template.spec.containers",
                        static_cast<std::size_t>(main - pod.containers.data()));
    const std::string instead = fmt::format(
        "is replaced by Muster's own master; the annotation {}: {} keeps the template's",
        annotations::kMaster, annotations::kMasterOfImage);
    if (!main->image.empty()) found.push_back(ineffective(path + ".image", instead));
    if (kube::has_words(main->command)) found.push_back(ineffective(path + ".command", instead));
    if (kube::has_words(main->args)) found.push_back(ineffective(path + ".args", instead));
}

void check_master(const Job& job, Found& found) {
    const std::string field = fmt::format("metadata.annotations[{}]", annotations::kMaster);
    const auto written = job.metadata.annotations.find(std::string(annotations::kMaster));
    if (has_own_master(job)) {
        found.push_back(doubtful(field,
                                 "a master of an image speaks to agents of its own only: those "
                                 "of Muster don't use it, and it may not make pods here"));
        return;
    }
    if (written != job.metadata.annotations.end())
        found.push_back(ineffective(
            field, fmt::format("only \"{}\" has a meaning, not \"{}\"", annotations::kMasterOfImage,
                               written->second.substr(0, 64))));
    check_replaced_program(job, found);
    if (job.platform.cluster && !job.platform.gives_program() &&
        strategy_of(job) != ElasticStrategy::kLocal)
        found.push_back(doubtful("spec.replicaSpecs",
                                 "the operator does not know an image with its program, which "
                                 "the job's master runs: start it with --in-pods-image"));
}

void check_agents_of(const Job& job, Found& found) {
    if (strategy_of(job) == ElasticStrategy::kLocal) return;
    if (wants_agent_of_image(job))
        found.push_back(doubtful(fmt::format("metadata.annotations[{}]", annotations::kAgent),
                                 std::string(kMissingWithoutAgent)));
    for (Cause& cause : not_reached_by_agent(job, agent_types(job)))
        found.push_back(std::move(cause));
}

}  // namespace

std::vector<Cause> elastic_warnings(const Job& job) {
    Found found;
    const ElasticJobSpec& spec = elastic_spec(job);
    check_optimizer(spec, found);
    check_old_switches(spec, found);
    for (const ReplicaType& type : job.kind->replica_types)
        if (const ElasticReplicaSpec* replica = elastic_replica(job, type.name))
            check_replica(job, type.name, *replica, found);
    check_shape(job, found);
    check_master(job, found);
    check_agents_of(job, found);
    check_master_annotations(job, found);
    return found;
}

}  // namespace muster::jobs
