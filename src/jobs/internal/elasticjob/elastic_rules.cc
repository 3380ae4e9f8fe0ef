#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fields.h"
#include "base/parse_number.h"
#include "jobs/internal/agents/agent_in_pods.h"
#include "jobs/internal/elasticjob/critical_nodes.h"
#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/elasticjob/resource_limits.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"
#include "kube/values/field_path.h"
#include "kube/values/name_syntax.h"

namespace muster::jobs {
namespace {

using Causes = std::vector<Cause>;

const std::string kReplicaSpecs = "spec.replicaSpecs";

void check_strategy(const Job& job, Causes& causes) {
    const std::string& written = elastic_spec(job).distribution_strategy;
    const std::vector<std::string> known(kElasticStrategies.begin(), kElasticStrategies.end());
    if (!written.empty() && std::ranges::find(known, written) == known.end())
        causes.push_back(
            not_supported("spec.distributionStrategy",
                          fmt::format("\"{}\" is not known{}; write {}", written.substr(0, 64),
                                      did_you_mean(written, known), one_of(known))));
}

void check_types(const Job& job, Causes& causes) {
    if (job.replicas.empty()) return;
    const ReplicaSpec* worker = job.replica(std::string(kElasticWorker));
    if (strategy_of(job) != ElasticStrategy::kLocal) {
        if (worker == nullptr && job.replica(std::string(kElasticChief)) == nullptr)
            causes.push_back(required(kReplicaSpecs + ".worker",
                                      "no replica here can make the job succeed: add workers"));
        return;
    }
    if (worker == nullptr)
        causes.push_back(required(kReplicaSpecs + ".worker",
                                  "a job with the strategy Local needs "
                                  "its worker"));
    else if (worker->replicas.value_or(1) > 1)
        causes.push_back(forbidden(
            kReplicaSpecs + ".worker.replicas",
            fmt::format("the strategy Local has one worker, got {}; write AllreduceStrategy for "
                        "workers that train together",
                        *worker->replicas)));
    for (const std::string_view type : {kElasticPs, kElasticChief, kElasticEvaluator})
        if (job.replica(std::string(type)) != nullptr)
            causes.push_back(
                forbidden(job.replica_path(std::string(type)),
                          "the strategy Local has a worker only; write ParameterServerStrategy"));
}

void check_priority(const Job& job, const std::string& type, const std::string& priority,
                    Causes& causes) {
    if (priority.empty() || has_high_priority(priority, 0, 1)) return;
    causes.push_back(invalid(
        job.replica_path(type) + ".priority",
        fmt::format("\"{}\" is no priority: write \"high\", \"low\", or the part of the replicas "
                    "that is high as a fraction above 0 and at most 1, such as \"0.5\"",
                    priority.substr(0, 64))));
}

void check_envs(const Job& job, Causes& causes) {
    for (const auto& [key, variable] : elastic_spec(job).envs) {
        const std::string path = kube::child_path("spec.envs", key);
        const std::string field = variable.name == key ? path : path + ".name";
        if (!kube::is_env_name(variable.name))
            causes.push_back(invalid(
                field, fmt::format("\"{}\" is not a variable's name: it takes printable ASCII "
                                   "characters other than '='",
                                   variable.name.substr(0, 64))));
        if (!variable.value.empty() && variable.value_from)
            causes.push_back(invalid(
                path + ".valueFrom",
                fmt::format("{} has both a value and a valueFrom; remove one", variable.name)));
    }
}

/// The pod of a master that is not in the manifest; the others are checked for every kind.
void check_master_name(const Job& job, Causes& causes) {
    if (job.replica(std::string(kElasticMaster)) != nullptr || job.metadata.name.empty() ||
        job.replicas.empty() || strategy_of(job) == ElasticStrategy::kLocal)
        return;
    const std::string pod =
        replica_name(*job.kind, job.metadata.name, {std::string(kElasticMaster), 0});
    for (const auto& [type, spec] : job.replicas) {
        const std::int32_t last = std::clamp(wanted(job, type), 1, kMaxReplicas) - 1;
        if (replica_name(*job.kind, job.metadata.name, {type, last}).size() > kube::kMaxLabelName)
            return;  // which has been said
    }
    if (pod.size() <= kube::kMaxLabelName) return;
    causes.push_back(invalid(
        "metadata.name",
        fmt::format("the name has {} characters, and the pod \"{}\" of its master would have {} of "
                    "at most {}: shorten the name by {}",
                    job.metadata.name.size(), pod, pod.size(), kube::kMaxLabelName,
                    pod.size() - kube::kMaxLabelName)));
}

void check_own_master(const Job& job, Causes& causes) {
    const std::string type(kElasticMaster);
    const ReplicaSpec* master = job.replica(type);
    if (!has_own_master(job)) return;
    if (master == nullptr) {
        causes.push_back(required(
            kReplicaSpecs + "." + type,
            fmt::format("the annotation {}: {} needs the template of a master; add it, or remove "
                        "the annotation",
                        annotations::kMaster, annotations::kMasterOfImage)));
        return;
    }
    const std::vector<kube::Container>& containers = master->template_.spec.containers;
    const kube::Container* main = default_container(*job.kind, master->template_.spec);
    if (main == nullptr) return;  // which has been said
    const std::string path = kube::item_path(job.replica_path(type) + ".template.spec.containers",
                                             static_cast<std::size_t>(main - containers.data()));
    const std::string because = fmt::format("the annotation {}: {} starts what the template says",
                                            annotations::kMaster, annotations::kMasterOfImage);
    if (main->image.empty())
        causes.push_back(required(path + ".image", because + ", and it has no image"));
    if (!kube::has_words(main->command) && !kube::has_words(main->args))
        causes.push_back(required(path + ".command", because + ", and it has no command"));
}

std::optional<Cause> check_tf_config(const Job& job) {
    constexpr std::size_t kTask = 64;  // the rest of TF_CONFIG, generously
    return too_long(job, "TF_CONFIG", tf_cluster_of(job).size() + kTask, all_wanted(job),
                    "take fewer workers");
}

}  // namespace

std::optional<bool> has_high_priority(std::string_view priority, std::int32_t rank,
                                      std::int32_t replicas) {
    if (priority == "high") return true;
    if (priority == "low") return false;
    const std::optional<double> part = parse_number<double>(priority);
    if (!part || !(*part > 0) || *part > 1) return std::nullopt;
    return rank < std::lround(*part * replicas);
}

std::vector<Cause> elastic_rules(const Job& job) {
    Causes causes;
    check_strategy(job, causes);
    check_types(job, causes);
    for (const ReplicaType& type : job.kind->replica_types) {
        const ElasticReplicaSpec* spec = elastic_replica(job, type.name);
        if (spec == nullptr) continue;
        check_priority(job, type.name, spec->priority, causes);
        if (auto cause = critical_nodes_problem(job, type.name, spec->critical_nodes))
            causes.push_back(*std::move(cause));
    }
    check_resource_limits(job, causes);
    check_envs(job, causes);
    check_master_name(job, causes);
    check_own_master(job, causes);
    if (auto cause = check_tf_config(job)) causes.push_back(*std::move(cause));
    if (strategy_of(job) != ElasticStrategy::kLocal)
        for (Cause& cause : check_agent(job, agent_types(job), OtherPrograms::kAsTheyAre))
            causes.push_back(std::move(cause));
    return causes;
}

std::vector<AdmissionRule> elastic_admission_rules() {
    return {
        {.expression = "size(variables.replicas) == 0 || variables.replicas.exists(t, "
                       "t.lowerAscii() in ['worker', 'chief'])",
         .message = "spec.replicaSpecs.worker: no replica here can make the job succeed: add "
                    "workers"},
        {.expression =
             "object.spec.?distributionStrategy.orValue('') != 'Local' || "
             "variables.replicas.all(t, t.lowerAscii() in ['worker', 'dlrover-master'] && "
             "(t.lowerAscii() != 'worker' || variables.replicas[t].?replicas.orValue(1) "
             "<= 1))",
         .message = "spec.replicaSpecs: the strategy Local has one worker and nothing else"},
        {.expression = fmt::format("object.spec.?distributionStrategy.orValue('') == 'Local' || "
                                   "size(object.metadata.name) + {} <= {}",
                                   fmt::format("{}-0", elastic_master_service("")).size(),
                                   kube::kMaxLabelName),
         .message =
             "metadata.name: the name of the pod of its master would be too long: shorten it"},
        {.expression =
             "variables.replicas.all(t, variables.replicas[t].?priority.orValue('').matches("
             "'^(|high|low|[0-9.eE+-]+)$'))",
         .message = "spec.replicaSpecs: a priority is \"high\", \"low\", or a fraction above 0 and "
                    "at most 1"},
    };
}

}  // namespace muster::jobs
