#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// The master of a job to which the annotation gives agents (elastic_annotation.h): in a pod beside the
// job (ReplicaType::beside) where the platform runs masters, and beside one of the agents elsewhere.

/// Its replica type. The name has no dash: a pod "a-x-master-0" may be that of a job "a-x".
inline constexpr std::string_view kAgentsMaster = "ElasticMaster";
ReplicaType agents_master_type();

/// Does not depend on the defaults, nor on what changes while a job runs.
bool has_agents_master(const Job& job);
/// The replica, to a job with the other defaults. It is placed as the first replica of the manifest
/// is, and pulled with its secrets.
void add_agents_master(Job& job);
/// Where it is: "demo-elasticmaster-0.ml.svc:50001".
std::string agents_master_address(const Job& job);
std::vector<OwnedObject> agents_master_objects(const Job& job);
void put_agents_master(const Job& job, kube::Pod& pod);
/// A job that would have one, but for what the cause says.
std::optional<Cause> lacks_agents_master(const Job& job);

}  // namespace muster::jobs
