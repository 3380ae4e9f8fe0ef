#pragma once

#include <boost/json/value.hpp>
#include <optional>

#include "kube/objects/pod.h"
#include "runtime/internal/network/names.h"

namespace muster::runtime {

// What objects of the API say about names (NameTable). Pure.

NamedPod names_of(const kube::Pod& pod);

/// Nothing for an object that can't be read, which is logged.
std::optional<NamedService> service_in(const json::value& object);

/// The Service `kubernetes`: no pods are behind it, and it is found elsewhere
/// (NameTable::put_server()).
bool is_server(const NamedService& service);

}  // namespace muster::runtime
