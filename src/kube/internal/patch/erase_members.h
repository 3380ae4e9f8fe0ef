#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <unordered_set>

#include "kube/values/json.h"

namespace muster::kube {

/// Takes the members out, and keeps the others in their order; in one pass, however many they are.
/// The keys are not those of the object itself.
void erase_members(json::object& object, const std::unordered_set<std::string_view>& keys);

}  // namespace muster::kube
