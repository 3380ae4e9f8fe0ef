#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>

#include "kube/values/json.h"
#include "workloads/internal/jobs/index_failures.h"

namespace muster::workloads {

/// The next pod of a batch Job; `index`: of an Indexed one, and with a limit per index what the pod is
/// told of the failures before it.
json::object job_pod(const json::object& job, std::optional<std::int64_t> index,
                     std::optional<IndexFailures> failures);

}  // namespace muster::workloads
