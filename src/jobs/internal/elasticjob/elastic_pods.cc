#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "jobs/internal/agents/agent_in_pods.h"
#include "jobs/internal/agents/agent_token.h"
#include "jobs/internal/elasticjob/elastic_master.h"
#include "jobs/internal/elasticjob/elasticjob.h"

namespace muster::jobs {
namespace {

/// Upstream's labels (dlrover/python/common/constants.py, ElasticJobLabel). Tools of its users look
/// for them; nothing here does.
constexpr std::string_view kUpstreamPrefix = "elasticjob.dlrover/";

void add_upstream_labels(const Job& job, const ReplicaId& replica, kube::Pod& pod) {
    const auto add = [&](std::string_view key, std::string value) {
        pod.metadata.labels[fmt::format("{}{}", kUpstreamPrefix, key)] = std::move(value);
    };
    const auto restarts = pod.metadata.annotations.find(std::string(annotations::kRestarts));
    const bool is_master = replica.type == kElasticMaster;
    pod.metadata.labels[is_master ? "app.kubernetes.io/name" : "app"] =
        is_master ? "elasticjob" : "dlrover";
    add("name", job.metadata.name);
    add("replica-type", replica.type);
    add("replica-index", std::to_string(replica.index));
    if (is_master) return;
    add("rank-index", std::to_string(replica.rank()));
    add("relaunch-count",
        restarts == pod.metadata.annotations.end() ? std::string("0") : restarts->second);
}

/// On one machine no class of that name need be there, and all pods start.
void set_priority(const Job& job, const ReplicaId& replica, kube::Pod& pod) {
    const ElasticReplicaSpec* spec = elastic_origin(job, replica.type);
    const ReplicaSpec* wanted = job.replica(replica.type);
    if (!job.platform.cluster || spec == nullptr || wanted == nullptr) return;
    if (!pod.spec.priority_class_name.empty()) return;
    const auto high =
        has_high_priority(spec->priority, replica.rank(), wanted->replicas.value_or(0));
    if (high) pod.spec.priority_class_name = *high ? "high" : "low";
}

}  // namespace

std::string elastic_master_service(std::string_view job_name) {
    return fmt::format("elasticjob-{}-{}", job_name, kElasticMaster);
}

std::string elastic_master_address(const Job& job) {
    return fmt::format("{}.{}:{}", elastic_master_service(job.metadata.name), job.service_domain(),
                       kMasterPort);
}

bool has_own_master(const Job& job) {
    return !runs_own_program(job, *job.kind->replica_type(kElasticMaster));
}

std::vector<std::string> agent_types(const Job& job) {
    std::vector<std::string> types;
    for (const auto& [type, replica] : job.replicas)
        if (type != kElasticMaster) types.push_back(type);
    return types;
}

/// Whatever launcher the program of the pod calls is our agent.
void put_elastic_agent(const Job& job, kube::Pod& pod) {
    const kube::Container* const chosen = default_container(*job.kind, pod.spec);
    for (kube::Container& container : pod.spec.containers)
        if (&container == chosen) return give_agent(job, pod, container, OtherPrograms::kAsTheyAre);
}

void finish_elastic_pod(const Job& job, const ReplicaId& replica, kube::Pod& pod) {
    add_upstream_labels(job, replica, pod);
    set_priority(job, replica, pod);
    const bool is_master = replica.type == kElasticMaster;
    if (is_master && !has_own_master(job)) put_master(job, elastic_master(job), pod);
    if (!is_master && strategy_of(job) != ElasticStrategy::kLocal) {
        put_elastic_agent(job, pod);
        connect_to_master(job, replica, pod);
    }
    add_agent_token(job, replica, pod);
}

/// First the name by which agents find whichever pod of the master runs. It has no address of its own:
/// that needs no proxy, and one machine has none.
std::vector<OwnedObject> elastic_owned_objects(const Job& job, const std::vector<SeenPod>& seen) {
    if (strategy_of(job) == ElasticStrategy::kLocal) return {};
    std::vector<OwnedObject> objects;
    json::object selector;
    for (const auto& [key, value] : job_labels(*job.kind, job.metadata.name)) selector[key] = value;
    selector[labels::kReplicaType] = kElasticMaster;
    objects.push_back(
        OwnedObject{.type = kube::types::kServices,
                    .name = elastic_master_service(job.metadata.name),
                    .labels = {{fmt::format("{}name", kUpstreamPrefix), job.metadata.name}},
                    .content = {{"spec",
                                 {{"clusterIP", "None"},
                                  {"selector", std::move(selector)},
                                  {"publishNotReadyAddresses", true},
                                  {"ports", json::array{json::object{{"name", job.kind->port_name},
                                                                     {"port", kMasterPort}}}}}}},
                    .kept = {"spec.selector", "spec.publishNotReadyAddresses"}});
    std::ranges::move(rank_services(job, seen), std::back_inserter(objects));
    std::ranges::move(master_objects(job, elastic_master(job)), std::back_inserter(objects));
    std::ranges::move(agent_token(job, seen), std::back_inserter(objects));
    return objects;
}

}  // namespace muster::jobs
