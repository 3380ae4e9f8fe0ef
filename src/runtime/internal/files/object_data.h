#pragma once

#include <string>

#include "base/async/async.h"
#include "kube/client/client.h"
#include "runtime/internal/files/environment_input.h"
#include "runtime/internal/files/references.h"

namespace muster::runtime {

/// Reads the current ConfigMaps and Secrets named in `references` into the two tables; objects that
/// do not exist are missing there afterwards. The tables outlive the call.
Task<Result<void>> fetch_data(kube::Client& client, std::string namespace_, References references,
                              KeyValueObjects& config_maps, KeyValueObjects& secrets);

}  // namespace muster::runtime
