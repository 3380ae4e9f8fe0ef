#include "jobs/internal/elasticjob/elastic_master.h"

#include "jobs/internal/elasticjob/elasticjob.h"

namespace muster::jobs {

bool has_record_object(const Job& job) {
    return job.platform.pods_reach_api && strategy_of(job) != ElasticStrategy::kLocal &&
           !has_own_master(job);
}

MasterInPod elastic_master(const Job& job) {
    return {.type = std::string(kElasticMaster),
            .objects = elastic_master_service(job.metadata.name),
            .has_record_object = has_record_object(job),
            .node_types = {std::string(kElasticWorker), std::string(kElasticChief)},
            .has_plan = true};
}

}  // namespace muster::jobs
