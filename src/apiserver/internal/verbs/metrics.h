#pragma once

#include <boost/json/object.hpp>

#include "apiserver/resources/resource_def.h"
#include "kube/objects/usage.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// The PodMetrics or NodeMetrics (according to `def`) of a stored pod or node; null if it was not
/// measured. Pure.
kube::ObjectPtr metrics_of(const ResourceDef& def, const json::object& object,
                           const kube::NodeUsage& usage);

}  // namespace muster::apiserver
