#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "kube/values/json.h"

namespace muster::apiserver {

/// Finalizers that hold a claim while a pod uses it, and a volume while a claim has it.
inline constexpr const char* kClaimProtection = "kubernetes.io/pvc-protection";
inline constexpr const char* kVolumeProtection = "kubernetes.io/pv-protection";

/// Adds a finalizer, unless it is there.
void add_finalizer(json::object& object, std::string_view finalizer);
/// Removes it.
void remove_finalizer(json::object& object, std::string_view finalizer);

/// What the plugin DefaultStorageClass gives a new claim; `default_class` may be empty.
void give_storage_class(json::object& claim, std::string_view default_class);

}  // namespace muster::apiserver
