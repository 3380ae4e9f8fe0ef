#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>

#include "kube/values/json.h"

namespace muster::workloads {

/// The next pod of a batch Job; `index`: of an Indexed one.
json::object job_pod(const json::object& job, std::optional<std::int64_t> index);

}  // namespace muster::workloads
