#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/values/quantity.h"
#include "manifest/check.h"

namespace muster::cli {

/// How much of a resource this machine has; nothing if it does not know the resource.
using Offered = std::function<std::optional<kube::Quantity>(const std::string& resource)>;

/// Jobs of which too many pods have to run at the same time: each fits alone, all together never
/// do, and the job would wait without an end. That are the pods that start together, or all that
/// pods which start after them need. CPUs and memory are left to `--fit`. Pure.
std::vector<manifest::Problem> check_gangs(std::vector<manifest::CheckedObject>& objects,
                                           const Offered& offered);

}  // namespace muster::cli
