#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/internal/objects/object_table.h"
#include "kube/values/json.h"
#include "kube/values/quantity.h"

namespace muster::cli {

/// What pods and nodes use, from lists of metrics.k8s.io. Pure; what can't be read counts as zero.

/// The thirstiest for CPU first.
ObjectTable pod_usage(const std::vector<kube::ObjectPtr>& metrics);

/// `nodes`: the Node objects, whose allocatable resources are the hundred per cent.
ObjectTable node_usage(const std::vector<kube::ObjectPtr>& metrics,
                       const std::vector<kube::ObjectPtr>& nodes);

}  // namespace muster::cli
