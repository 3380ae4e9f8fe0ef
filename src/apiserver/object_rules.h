#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "kube/objects/resource_type.h"
#include "kube/schema/schema.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// Why the API would refuse to create this object of a built-in kind, as far as the object alone
/// tells: without anything that depends on other stored objects. Empty for kinds that are not built
/// in. Pure.
std::vector<Cause> field_errors_of(const kube::ResourceType& type, const json::value& object);

/// A kind that the API has without a definition.
struct BuiltInKind {
    kube::ResourceType type;
    std::vector<std::string> short_names;
    kube::Schema::Ptr schema;
};
/// The kinds of which objects are made, in the order of discovery.
std::vector<BuiltInKind> built_in_kinds();

}  // namespace muster::apiserver
