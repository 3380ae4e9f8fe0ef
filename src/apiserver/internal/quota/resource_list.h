#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>

#include "kube/values/quantity.h"

namespace muster::apiserver {

/// How much of each resource, as ResourceList of Kubernetes: "cpu", "requests.memory", "pods".
using ResourceList = std::map<std::string, kube::Quantity, std::less<>>;

/// The quantities of an object; values of another kind are left out.
ResourceList resource_list(const json::object& quantities);
/// Adds each amount of `more`.
void add_to(ResourceList& list, const ResourceList& more);

enum class Overhead { kLeftOut, kCounted };
/// What a pod needs as a whole, of its "requests" or its "limits": the sum of its containers and
/// sidecars, or what an init container needs together with the sidecars before it, if that is more.
ResourceList pod_resources(const json::object& pod_spec, std::string_view which, Overhead overhead);

/// "cpu=1,memory=2Gi".
std::string describe(const ResourceList& list);

}  // namespace muster::apiserver
