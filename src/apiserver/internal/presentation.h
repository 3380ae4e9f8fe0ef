#pragma once

#include "apiserver/internal/resource_def.h"
#include "apiserver/object_text.h"

namespace muster::apiserver {

/// A stored object as the definition's version shows it: the same pointer unless apiVersion
/// differs (versions of one resource have one structure; nothing is converted but the name).
ObjectTextPtr in_version(const ResourceDef& def, ObjectTextPtr object);

}  // namespace muster::apiserver
