#pragma once

#include <boost/json/value.hpp>

#include "apiserver/internal/resource_def.h"
#include "kube/json.h"

namespace muster::apiserver {

/// A stored object as the definition's version shows it: the same pointer unless apiVersion
/// differs (versions of one resource have one structure; nothing is converted but the name).
kube::ObjectPtr in_version(const ResourceDef& def, kube::ObjectPtr object);

}  // namespace muster::apiserver
