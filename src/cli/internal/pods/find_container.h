#pragma once

#include <string>

#include "cli/internal/connect/connection.h"
#include "cli/internal/pods/container_choice.h"

namespace muster::cli {

/// The container that `words` mean (see parse_pod_words()) with a choice: jobs first, then pods. A
/// NAMESPACE/POD is found, too, as in 'kubectl cp'.
Task<Result<ChosenContainer>> find_container(Connection& connection, std::string words,
                                             ContainerChoice choice);

}  // namespace muster::cli
