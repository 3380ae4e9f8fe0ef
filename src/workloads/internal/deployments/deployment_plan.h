#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::workloads {

/// What is to be done about one Deployment now, in the order of the fields.
struct DeploymentPlan {
    /// ReplicaSets as they are to be.
    std::vector<json::object> update;
    /// The ReplicaSet of its present template.
    std::optional<json::object> create;
    std::vector<std::string> remove;  ///< ReplicaSets
    std::string revision;             ///< to be written into its annotations; empty: it is there
    json::object status;
    std::vector<std::string> scaled;  ///< messages of the Event ScalingReplicaSet
    std::optional<WallTime> again;
};

/// A Deployment with what is needed to decide about it.
struct DeploymentFacts {
    const json::object& deployment;
    /// The ReplicaSets that it controls.
    std::vector<json::object> sets;
    /// By the name of a ReplicaSet: how many of its pods have not ended, those that are being deleted
    /// included.
    std::map<std::string, std::int64_t, std::less<>> running;
};

/// Pure. One step of a rollout: the next one follows when the ReplicaSets have changed.
DeploymentPlan plan_deployment(DeploymentFacts facts, WallTime now);

/// The ReplicaSet could not be made: its Deployment says so.
void note_failed_creation(json::object& status, std::string_view message, WallTime now);

}  // namespace muster::workloads
