#pragma once

#include <map>
#include <string>

#include "kube/objects/pod.h"
#include "kube/values/quantity.h"

namespace muster::operators {

/// Quantities by resource name.
using Amounts = std::map<std::string, kube::Quantity>;

/// What a scheduler reserves for such a pod, as Kubernetes computes it (k8s.io/component-helpers
/// resource, PodRequests): the larger of the sum of containers and sidecars and of what an init
/// container needs together with the sidecars before it; instead of these the pod's own requests,
/// if given; plus its overhead. Limits stand in for missing requests.
Amounts pod_requests(const kube::PodSpec& spec);

/// `sum` + `amounts` * `count`.
void add_times(Amounts& sum, const Amounts& amounts, std::int32_t count);

/// In canonical form, which is how a Go program writes them back.
json::object to_json(const Amounts& amounts);
/// The entries that are valid quantities.
Amounts amounts_of(const kube::ResourceList& list);

}  // namespace muster::operators
