#include <algorithm>

#include "base/parse_number.h"
#include "jobs/gang_scheduler.h"
#include "jobs/internal/agents/launcher_flags.h"
#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/elasticjob/master_annotations.h"
#include "jobs/internal/variables.h"

// Upstream: dlrover/python/master/node/worker.py (find_pending_node_caused_training_hang,
// is_training_hang_by_insufficient_worker), ps.py, common/constants.py (JobConstant).

namespace muster::jobs {
namespace {

using std::chrono::seconds;
using Demand = PendingPolicy::Demand;

/// Longer than any job; sums with times stay in range.
constexpr std::int64_t kLongestPending = 1'000'000'000;
constexpr seconds kJoinTimeout{600};
constexpr seconds kShortestTooFew{600};
constexpr seconds kLongestTooFew{3600};

Demand demand_of(const Job& job) {
    const std::string strategy = master_setting(job, kPendingStrategy);
    if (strategy == "1") return Demand::kNecessary;
    return strategy == "2" ? Demand::kAll : Demand::kNothing;
}

seconds timeout_of(const Job& job) {
    const auto number = parse_number<std::int64_t>(master_setting(job, kPendingTimeout));
    return seconds(std::min(number.value_or(0), kLongestPending));
}

/// Another scheduler than Kubernetes' own may be one of gangs, whether it is known here or not; one
/// machine starts the pods of every job together.
bool starts_together(const Job& job) {
    if (!job.platform.cluster) return job.total_replicas() > 1;
    if (gang_scheduler_of(job).scheduler != GangScheduler::kNone) return true;
    return std::ranges::any_of(job.replicas, [](const auto& entry) {
        const std::string& scheduler = entry.second.template_.spec.scheduler_name;
        return !scheduler.empty() && scheduler != "default-scheduler";
    });
}

/// Of the first ranks, those that are not of low priority beside others of high priority.
std::int32_t of_high_priority(const Job& job, const std::string& type, std::int32_t all) {
    const ElasticReplicaSpec* spec = elastic_origin(job, type);
    if (spec == nullptr) return all;
    std::int32_t high = 0;
    while (high < all && has_high_priority(spec->priority, high, all).value_or(true)) ++high;
    return high == 0 ? all : high;
}

LauncherFlags flags_of_workers(const Job& job, std::int32_t workers, std::int32_t chiefs) {
    const ReplicaSpec* spec = job.replica(std::string(kElasticWorker));
    const kube::Container* main =
        spec == nullptr ? nullptr : default_container(*job.kind, spec->template_.spec);
    if (main == nullptr) return {};
    std::vector<std::string> words = main->command;
    words.insert(words.end(), main->args.begin(), main->args.end());
    LauncherFlags flags = read_launcher_flags(words, workers + chiefs);
    // A launcher that wants more nodes than there are waits for more than these.
    if (flags.fewest_nodes)
        flags.fewest_nodes = std::clamp(*flags.fewest_nodes - chiefs, 0, workers);
    return flags;
}

}  // namespace

PendingPolicy elastic_pending_policy(const Job& job) {
    PendingPolicy policy{
        .demand = demand_of(job), .timeout = timeout_of(job), .together = starts_together(job)};
    const std::int32_t workers = wanted(job, std::string(kElasticWorker));
    const std::int32_t chiefs = wanted(job, std::string(kElasticChief));
    const bool by_servers = strategy_of(job) == ElasticStrategy::kParameterServer;
    LauncherFlags flags;
    if (!by_servers) flags = flags_of_workers(job, workers, chiefs);
    if (flags.fewest_nodes) {
        policy.too_few_timeout = std::clamp(flags.join_timeout.value_or(kJoinTimeout) * 3 / 2,
                                            kShortestTooFew, kLongestTooFew);
        if (*flags.fewest_nodes < workers) policy.begins_with = flags.fewest_nodes;
    }
    const SuccessPolicy success = job.kind->success_policy(job);
    for (std::size_t at = 0; at < job.kind->replica_types.size(); ++at) {
        const std::string& type = job.kind->replica_types[at].name;
        const std::int32_t all = wanted(job, type);
        PendingPolicy::Need& need = policy.needs.emplace_back();
        // Its pod is small, and while it is away workers continue.
        if (type == kElasticMaster) continue;
        need = {.necessary = all, .all = of_high_priority(job, type, all)};
        if (type == kElasticWorker && !by_servers)
            // Where the number of nodes is not known, a job begins with what there is.
            need.necessary = flags.fewest_nodes.value_or(std::min(all, 1));
        else if (success.forgives(static_cast<std::uint8_t>(at)))
            need.necessary = 0;
    }
    return policy;
}

}  // namespace muster::jobs
