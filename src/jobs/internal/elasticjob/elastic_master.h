#pragma once

#include "jobs/internal/agents/master_in_pod.h"
#include "jobs/kind.h"

namespace muster::jobs {

/// Whether the record and the plan are in the API. Not of a master of the user's image, which has
/// none.
bool has_record_object(const Job& job);

/// Whether the job begins again after its master has recorded a failure: all of its pods restart
/// together then, as often as their policies and restartCount allow.
bool begins_again(const Job& job);

/// The master of an ElasticJob in its pod: its objects are called as its service is
/// (elastic_master_service()), it follows the number of workers, and writes a ScalePlan. Upstream's master makes pods as
/// the account `default` of the namespace, to which its users bind a role by hand, and has no record;
/// a master of the user's image has none either.
MasterInPod elastic_master(const Job& job);

}  // namespace muster::jobs
