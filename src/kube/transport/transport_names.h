#pragma once

#include <optional>
#include <string_view>

#include "kube/transport/transport.h"

namespace muster::kube {

// Names of the parts of requests and answers on the wire.

/// "GET"
std::string_view method_name(Method method);
std::optional<Method> method_of(std::string_view name);

/// "ADDED"
std::string_view event_type_name(WatchEventType type);
std::optional<WatchEventType> event_type_of(std::string_view name);

}  // namespace muster::kube
