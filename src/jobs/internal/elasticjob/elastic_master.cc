#include "jobs/internal/elasticjob/elastic_master.h"

#include <algorithm>

#include "jobs/internal/elasticjob/elasticjob.h"

namespace muster::jobs {

bool has_record_object(const Job& job) {
    return job.platform.pods_reach_api && strategy_of(job) != ElasticStrategy::kLocal &&
           !has_own_master(job);
}

bool begins_again(const Job& job) {
    if (has_own_master(job)) return false;
    return std::ranges::any_of(job.kind->replica_types, [&](const ReplicaType& type) {
        const ReplicaSpec* const spec = job.replica(type.name);
        return spec != nullptr && type.name != kElasticMaster &&
               spec->restart_policy != "ExitCode" && job.restarts_all(type);
    });
}

MasterInPod elastic_master(const Job& job) {
    return {.type = std::string(kElasticMaster),
            .objects = elastic_master_service(job.metadata.name),
            .has_record_object = has_record_object(job),
            .node_types = {std::string(kElasticWorker), std::string(kElasticChief)},
            .has_plan = true,
            .begins_again = begins_again(job)};
}

}  // namespace muster::jobs
