#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/values/quantity.h"
#include "runtime/node.h"

namespace muster::runtime {

/// This machine's address for itself.
constexpr const char* kHostAddress = "127.0.0.1";

/// What pods may request of this machine together.
std::map<std::string, kube::Quantity> node_capacity(const NodeOptions& options);

/// Creates the Node object, or takes over an existing one.
Task<Result<void>> register_node(kube::Client& client, std::string name,
                                 std::map<std::string, kube::Quantity> capacity, WallTime now);

}  // namespace muster::runtime
