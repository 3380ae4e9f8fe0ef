#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/internal/objects/object_table.h"
#include "kube/values/json.h"
#include "kube/values/quantity.h"

namespace muster::cli {

/// What pods and nodes use, from lists of metrics.k8s.io. Pure; values that can't be read count as
/// zero.

/// Ordered by CPU, the largest first.
ObjectTable pod_usage(const std::vector<kube::ObjectPtr>& metrics);

/// `nodes`: the Node objects, whose allocatable resources are 100 %.
ObjectTable node_usage(const std::vector<kube::ObjectPtr>& metrics,
                       const std::vector<kube::ObjectPtr>& nodes);

}  // namespace muster::cli
