#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/webhook_caller.h"
#include "base/result.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// What selects its pods; empty if nothing does.
kube::LabelSelector selector_for_pods(const json::object& service);

/// Whether it stands for the pods that it selects.
bool has_selector(const json::object& service);
/// The name of DNS that a service of the type ExternalName stands for; empty for others.
std::string external_name_of(const json::object& service);

/// The entry of a port in a service; kNotFound if it does not have it.
Result<const json::object*> service_port(const json::object& service, std::uint16_t number);
/// Where a pod that the service selects takes connections to this port of it; nullopt if the pod is
/// not ready, or has no such port.
std::optional<std::uint16_t> target_at(const json::object& pod, const json::object& service_port);

/// Adds where a service without a selector leads to by one of its EndpointSlices, or by its
/// Endpoints.
void add_places(const json::object& endpoints, const json::object& service_port,
                std::vector<NetworkPort>& places);

}  // namespace muster::apiserver
