#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <vector>

#include "kube/values/json.h"

namespace muster::apiserver {

/// The LimitRanges of a namespace.
using LimitRanges = std::vector<kube::ObjectPtr>;

/// Gives the containers of a new pod the defaults of the ranges, and says so in an annotation, as
/// LimitRanger does. False if more than `most_bytes` would be added; the pod is then unfinished.
[[nodiscard]] bool set_limit_defaults(json::object& pod, const LimitRanges& ranges,
                                      std::size_t most_bytes);

/// Why the ranges don't allow a new pod; empty if they do. Lists 100 reasons at most. The work is
/// linear in the pod, plus the reasons and one look at each constraint for a container.
std::string pod_limit_problem(const json::object& pod, const LimitRanges& ranges);
/// The same for a new claim of storage.
std::string claim_limit_problem(const json::object& claim, const LimitRanges& ranges);

}  // namespace muster::apiserver
