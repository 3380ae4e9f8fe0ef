#pragma once

#include <boost/json/value.hpp>
#include <optional>

#include "kube/objects/pod.h"
#include "runtime/internal/network/names.h"

namespace muster::runtime {

// The names (NameTable) that follow from objects of the API. Pure.

NamedPod names_of(const kube::Pod& pod);

/// Nothing for an object that can't be read, which is logged.
std::optional<NamedService> service_in(const json::value& object);

/// The Service `kubernetes`: it has no pods, and its address comes from elsewhere
/// (NameTable::put_server()).
bool is_server(const NamedService& service);

}  // namespace muster::runtime
