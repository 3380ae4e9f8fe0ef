#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apiserver/webhook_caller.h"
#include "base/result.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// A port of a pod.
struct ServicePod {
    std::string name;
    std::uint16_t port = 0;

    friend bool operator==(const ServicePod&, const ServicePod&) = default;
};

/// What selects its pods; empty if nothing does.
kube::LabelSelector selector_for_pods(const json::object& service);
/// Whether the service selects pods with these labels (null: without labels).
bool selects(const json::object& service, const json::value& labels);

/// Whether it stands for the pods that it selects.
bool has_selector(const json::object& service);
/// The name of DNS that a service of the type ExternalName stands for; empty for others.
std::string external_name_of(const json::object& service);

/// Where a connection to a port of a service may go: each of `pods` (those of its namespace) that
/// it selects and that is ready, at its target port. Never empty: kUnavailable if there is none,
/// kNotFound for a port that it does not have.
Result<std::vector<ServicePod>> pods_behind(const json::object& service, std::uint16_t port,
                                            const std::vector<kube::ObjectPtr>& pods);

/// The same for a service without a selector, by its EndpointSlices, or by its Endpoints.
Result<std::vector<NetworkPort>> places_behind(const json::object& service, std::uint16_t port,
                                               const std::vector<kube::ObjectPtr>& endpoints);

}  // namespace muster::apiserver
