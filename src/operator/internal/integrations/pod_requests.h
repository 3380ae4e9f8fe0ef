#pragma once

#include <map>
#include <string>

#include "kube/objects/pod.h"
#include "kube/values/quantity.h"

namespace muster::operators {

/// Quantities by resource name.
using Amounts = std::map<std::string, kube::Quantity>;

/// What a scheduler sets aside for such a pod, as Kubernetes counts it (k8s.io/component-helpers
/// resource, PodRequests): the containers and sidecars together, or as much as an init container
/// needs beside the sidecars before it, whichever is more; what the pod asks for as a whole instead
/// of either; and its overhead. Limits stand in for requests that are not given.
Amounts pod_requests(const kube::PodSpec& spec);

/// `sum` + `amounts` * `count`.
void add_times(Amounts& sum, const Amounts& amounts, std::int32_t count);

/// In their canonical form, which is how a program in Go writes them back.
json::object to_json(const Amounts& amounts);
/// Those that are quantities.
Amounts amounts_of(const kube::ResourceList& list);

}  // namespace muster::operators
