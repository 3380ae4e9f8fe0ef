#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>

#include "jobs/internal/agents/agent_in_pods.h"
#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/program_in_pods.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

// Parameter servers: the names of ranks, and how servers and workers reach the job's master, since no
// agent does it for them.

namespace muster::jobs {
namespace {

/// For python/muster.
constexpr std::string_view kAskMaster = "MUSTER_ASK_MASTER";
constexpr std::string_view kRankLabel = "elasticjob.dlrover/rank-index";

bool has_volume(const kube::Pod& pod) {
    return std::ranges::find(pod.spec.volumes, kProgramVolume, &kube::Volume::name) !=
           pod.spec.volumes.end();
}

/// The path of our program in that container, which has it from now on.
std::string give_program(const Platform& platform, kube::Pod& pod, kube::Container& container) {
    if (!platform.node_program.empty()) {
        if (!has_volume(pod)) add_program(platform, pod, container);
        return program_in_pods(platform);
    }
    if (!has_volume(pod)) add_agent_folder(platform, pod, container);
    return fmt::format("{}/muster", agent_folder_in_pods(platform));
}

/// By rank. The one that is there longest has the name until it is gone: what is moved is reached at its
/// old place until then.
using RunningIds = std::map<std::int32_t, std::vector<std::int32_t>>;
RunningIds running_ids(const std::vector<SeenPod>& seen, std::string_view type) {
    RunningIds ids;
    for (const SeenPod& pod : seen)
        if (pod.replica.type == type) ids[pod.replica.rank()].push_back(pod.replica.index);
    return ids;
}

OwnedObject rank_service(const Job& job, const ReplicaId& rank, const RunningIds& ids) {
    json::object selector;
    for (const auto& [key, value] : job_labels(*job.kind, job.metadata.name)) selector[key] = value;
    selector[labels::kReplicaType] = rank.type;
    selector[kRankLabel] = std::to_string(rank.index);
    if (const auto found = ids.find(rank.index); found != ids.end() && found->second.size() > 1)
        selector[labels::kReplicaIndex] = std::to_string(*std::ranges::min_element(found->second));
    return {.type = kube::types::kServices,
            .name = replica_name(job, rank),
            .labels = {{"elasticjob.dlrover/name", job.metadata.name}},
            .content = {{"spec",
                         {{"clusterIP", "None"},
                          {"selector", std::move(selector)},
                          {"publishNotReadyAddresses", true},
                          {"ports",
                           json::array{json::object{{"name", job.kind->port_name},
                                                    {"port", port_or_default(job, rank.type)}}}}}}},
            .kept = {"spec.selector", "spec.publishNotReadyAddresses"}};
}

}  // namespace

void connect_to_master(const Job& job, const ReplicaId& replica, kube::Pod& pod) {
    if (strategy_of(job) != ElasticStrategy::kParameterServer || has_own_master(job)) return;
    if (!can_get_agent(job)) return;
    const kube::Container* const chosen = default_container(*job.kind, pod.spec);
    for (kube::Container& container : pod.spec.containers) {
        if (&container != chosen) continue;
        std::string program = give_program(job.platform, pod, container);
        if (replica.type == kElasticPs && !container.command.empty())
            container.command.insert(container.command.begin(), {program, "ask-master", "--for"});
        container.env.push_back(
            {.name = std::string(kAskMaster), .value = std::move(program), .value_from = {}});
    }
}

/// Named by ranks, which replacements keep: TF_CONFIG is what pods were told at their start. Upstream
/// lets a replacement take over the Service of its predecessor (dlrover/python/master/scaler/pod_scaler.py).
std::vector<OwnedObject> rank_services(const Job& job, const std::vector<SeenPod>& seen) {
    std::vector<OwnedObject> objects;
    for (const ReplicaType& type : job.kind->replica_types) {
        const bool served = type.name == kElasticPs || job.kind->serves_ranks(job);
        if (!served || type.own_program) continue;
        const RunningIds ids = running_ids(seen, type.name);
        for (std::int32_t rank = 0; rank < wanted(job, type.name); ++rank)
            objects.push_back(rank_service(job, {type.name, rank}, ids));
    }
    return objects;
}

}  // namespace muster::jobs
