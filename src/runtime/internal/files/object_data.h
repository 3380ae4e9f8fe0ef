#pragma once

#include <string>

#include "base/async/async.h"
#include "kube/client/client.h"
#include "runtime/internal/pod/container_env.h"

namespace muster::runtime {

/// Reads the ConfigMaps and Secrets that `references` names, as they are now, into the two tables;
/// what does not exist is not in them afterwards. The tables outlive the call.
Task<Result<void>> fetch_data(kube::Client& client, std::string namespace_, References references,
                              KeyValueObjects& config_maps, KeyValueObjects& secrets);

}  // namespace muster::runtime
