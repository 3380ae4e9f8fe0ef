#pragma once

#include "kube/objects/resource_type.h"

namespace muster::workloads {

inline const kube::ResourceType kCronJobs{"batch", "v1", "cronjobs", "CronJob"};

}  // namespace muster::workloads
