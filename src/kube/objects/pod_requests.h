#pragma once

#include <map>
#include <string>

#include "kube/objects/pod.h"
#include "kube/values/quantity.h"

namespace muster::kube {

/// Quantities by resource name.
using Amounts = std::map<std::string, Quantity>;

/// What the containers request together: the larger of the sum of containers and sidecars and of
/// what an init container needs together with the sidecars before it. Limits stand in for missing
/// requests. Values that are not quantities count as zero.
Amounts container_requests(const PodSpec& spec);

/// What a scheduler reserves for such a pod, as Kubernetes computes it (k8s.io/component-helpers
/// resource, PodRequests): what its containers request, or instead of it the pod's own requests;
/// plus its overhead.
Amounts pod_requests(const PodSpec& spec);

/// `sum` + `amounts` * `count`.
void add_times(Amounts& sum, const Amounts& amounts, std::int32_t count);

/// In canonical form, which is how a Go program writes them back.
json::object to_json(const Amounts& amounts);
/// The entries that are valid quantities.
Amounts amounts_of(const ResourceList& list);

}  // namespace muster::kube
