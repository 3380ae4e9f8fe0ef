#pragma once

#include "kube/values/json.h"

namespace muster::kube {

/// Whether two values are equal: numbers are compared as by json::value's own operator==, objects
/// in any order. To be used for everything that may be large: that operator copies everything below
/// each object it meets, so that a deep value of a megabyte takes it seconds.
bool equal(const json::value& a, const json::value& b);
bool equal(const json::object& a, const json::object& b);

}  // namespace muster::kube
