#pragma once

#include <boost/json/value.hpp>
#include <vector>

#include "manifest/check.h"

namespace muster::manifest {

/// The pods and services that result from the objects, in the order in which they are made. Pure.
Result<std::vector<json::value>> planned_objects(const std::vector<CheckedObject>& objects);

}  // namespace muster::manifest
