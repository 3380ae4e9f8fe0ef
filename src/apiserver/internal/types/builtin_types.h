#pragma once

#include <string>
#include <vector>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

struct ReadDefinition;

/// pods, services, configmaps, ... What validating a CustomResourceDefinition reads goes to `read`,
/// which outlives them.
std::vector<DefPtr> builtin_types(ReadDefinition& read);

/// The common traits of the built-in kinds; the caller sets the rest.
ResourceDef builtin(const kube::ResourceType& type);

/// The built-in kinds on which nothing of this server acts: they are there for their clients.
std::vector<DefPtr> stored_types();
/// The warning for the creator of an object of a kind on which nothing here acts; "" for the
/// others, and where there is nothing to do about one.
std::string creation_warning(const ResourceDef& def);

}  // namespace muster::apiserver
