#pragma once

#include "cli/internal/connect/connection.h"
#include "cli/internal/objects/api_resources.h"

namespace muster::cli {

/// Asks the server what it has: in two requests, or, if it is older than 1.26, in one for each
/// group.
Task<Result<ResourceCatalog>> discover(Connection& connection);

/// The body of a GET. A failure is the Error of the server's Status.
Task<Result<kube::ObjectPtr>> fetch(kube::Transport& transport, std::string path,
                                    std::vector<std::pair<std::string, std::string>> query);

}  // namespace muster::cli
