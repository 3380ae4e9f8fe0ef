#pragma once

#include <functional>
#include <string>

#include "cli/internal/connect/connection.h"

namespace muster::cli {

/// Calls `seen` with one object in its present state and after each change, null while it does not
/// exist, until it returns true. A broken connection is an error. `seen` outlives the task.
Task<Result<void>> follow_object(Connection& connection, kube::ResourceType type, std::string ns,
                                 std::string name,
                                 const std::function<bool(const json::value*)>& seen);

}  // namespace muster::cli
