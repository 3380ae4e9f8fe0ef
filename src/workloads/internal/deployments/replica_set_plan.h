#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// How many pods a ReplicaSet lacks, or which are too many. `pods` are those that it controls. Pure.
struct ReplicaChange {
    std::int64_t make = 0;
    std::vector<PodPtr> remove;
};
ReplicaChange plan_replicas(const json::object& set, const std::vector<PodPtr>& pods);

struct ReplicaSetStatus {
    json::object status;
    std::optional<WallTime> again;  ///< when a pod becomes available
};
/// `failure`: why a pod could not be made or deleted; empty: nothing failed. Pure.
ReplicaSetStatus replica_set_status(const json::object& set, const std::vector<PodPtr>& pods,
                                    const std::string& failure, WallTime now);

}  // namespace muster::workloads
