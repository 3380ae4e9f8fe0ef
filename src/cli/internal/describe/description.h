#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::cli {

/// An object in words, with what happened to it. `pods`: of a job, those that it has now; else
/// empty. Jobs, pods and nodes get what people ask about them; of anything else spec and status are
/// shown as they are. Pure.
std::string describe_object(const json::value& object, const std::vector<kube::ObjectPtr>& pods,
                            const std::vector<kube::ObjectPtr>& events, WallTime now);

}  // namespace muster::cli
