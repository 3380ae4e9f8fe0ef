#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// The master of a job's agents in a pod of its own (`muster master`): its program there, where its
// record is, and the objects that it needs for that. For every kind whose jobs have one.
//
// Where pods reach the API the record is in a ConfigMap, and the master has a ServiceAccount of its
// own that may read and write this one object, and the job's ScalePlan. Elsewhere the record is a file in a volume of the pod.

inline constexpr std::int32_t kMasterPort = 50001;

struct MasterInPod {
    std::string type;     ///< its replica type
    std::string objects;  ///< the name of all of its objects
    bool has_record_object = true;
    /// The replica types whose number `status.members` has: the job is followed for it, since agents
    /// were told theirs at their start. Empty: that of the newest agent counts.
    std::vector<std::string> node_types = {};
    /// It writes the job's ScalePlan (jobs/scale_plan.h, own_plan_name()) where it has a record object.
    bool has_plan = false;
    /// Containers start again when the job has failed, and its next master begins it again then.
    bool begins_again = false;
};

/// ServiceAccount, Role, RoleBinding and ConfigMap, all of one name; none without a record in the
/// API. A template that names an account keeps it: the Role is bound to that one then. RBAC can't
/// limit a creation to a name, so the ConfigMap is made empty, and what is in it is the master's.
std::vector<OwnedObject> master_objects(const Job& job, const MasterInPod& master);
/// The types of these objects.
std::vector<kube::ResourceType> master_object_types();

/// The replica, where no manifest has one.
ReplicaSpec default_master(const Job& job, const std::string& type);

/// Puts our program into the master's pod, with its record or the access to it.
void put_master(const Job& job, const MasterInPod& master, kube::Pod& pod);

}  // namespace muster::jobs
