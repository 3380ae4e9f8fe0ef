#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::cli {

/// A description of an object and what happened to it. `pods`: the present pods of a job; else
/// empty. Jobs, pods and nodes have descriptions of their own; for anything else spec and status
/// are shown as they are. Pure.
std::string describe_object(const json::value& object, const std::vector<kube::ObjectPtr>& pods,
                            const std::vector<kube::ObjectPtr>& events, WallTime now);

}  // namespace muster::cli
