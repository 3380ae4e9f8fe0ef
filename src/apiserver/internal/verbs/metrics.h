#pragma once

#include <boost/json/object.hpp>

#include "apiserver/resources/resource_def.h"
#include "kube/objects/usage.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// The PodMetrics or NodeMetrics (as `def` says) of a stored pod or node; null when nothing was
/// measured of it. Pure.
kube::ObjectPtr metrics_of(const ResourceDef& def, const json::object& object,
                           const kube::NodeUsage& usage);

}  // namespace muster::apiserver
