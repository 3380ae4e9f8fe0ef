#pragma once

#include <boost/json/object.hpp>

#include "apiserver/resources/resource_def.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// Adds the paths of a resource and of its subresources, with their operations, to `paths`. Clients
/// look there for what a server can do with a kind: whether PATCH supports `fieldValidation`, and
/// which kinds of patches it accepts.
void add_paths(const apiserver::ResourceDef& def, json::object& paths);

}  // namespace muster::apiserver_http
