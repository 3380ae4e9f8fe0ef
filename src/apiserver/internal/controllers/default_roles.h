#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "kube/objects/resource_type.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// The ConfigMap in kube-system that servers which extend this one read.
inline constexpr const char* kAuthenticationConfig = "extension-apiserver-authentication";

/// A role or a binding that every server has.
struct DefaultObject {
    const kube::ResourceType* type = nullptr;
    json::object object;
};

/// The roles that people and clients rely on, with their names in a real server, and their initial
/// bindings. Roles come before the bindings to them.
std::vector<DefaultObject> default_access_objects();

}  // namespace muster::apiserver
