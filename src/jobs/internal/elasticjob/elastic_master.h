#pragma once

#include <string>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// The master of an elastic job in a pod of its own (`muster master`): the objects that it needs, and
// how it is called. They are the same for every kind whose jobs have such a master.

/// "<job>-plan": the one ScalePlan in which it says what it wants.
std::string elastic_master_plan(const Job& job);

/// ServiceAccount, Role, RoleBinding and ConfigMap, all called as its service is
/// (elastic_master_service()). The Role allows to read, watch and write two
/// objects by their names, that ConfigMap and that ScalePlan, and nothing else: RBAC can't limit a
/// creation to a name, so both are made by the operator. The ConfigMap is made empty, and what is in
/// it is the master's.
std::vector<OwnedObject> elastic_master_objects(const Job& job);
/// The types of these objects.
std::vector<kube::ResourceType> elastic_master_types();

/// What follows the name of the program: "master --job a --namespace b --record-object c --port d".
std::vector<std::string> elastic_master_words(const Job& job, int port);

}  // namespace muster::jobs
