#pragma once

#include <string>
#include <vector>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

class ReadDefinition;

/// pods, services, configmaps, ... What the validation of a CustomResourceDefinition parses is put
/// into `read`, which outlives them.
std::vector<DefPtr> builtin_types(ReadDefinition& read);

/// The common traits of the built-in kinds; the caller sets the rest.
ResourceDef builtin(const kube::ResourceType& type);

/// The built-in kinds that this server only stores for its clients.
std::vector<DefPtr> stored_types();
/// Of the kinds that are only stored, those that something acts on all the same.
struct Attended {
    bool volumes = false;    ///< claims are bound
    bool workloads = false;  ///< see ApiServerOptions::workload_controllers
};
/// The warning for the creator of an object of a kind that nothing here acts on; "" for other
/// kinds, and if nothing needs to be done about such an object.
std::string creation_warning(const ResourceDef& def, const Attended& attended);

}  // namespace muster::apiserver
