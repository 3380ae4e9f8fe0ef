#pragma once

#include <string>

#include "base/async/async.h"
#include "kube/client/client.h"
#include "runtime/internal/files/environment_input.h"
#include "runtime/internal/files/references.h"
#include "runtime/stand_ins.h"

namespace muster::runtime {

/// Reads the current ConfigMaps and Secrets named in `references` into the two tables; of those that
/// do not exist it takes the stand-ins, and the rest is missing there afterwards. What is passed by
/// reference outlives the call.
Task<Result<void>> fetch_data(kube::Client& client, const StandIns& stand_ins,
                              std::string namespace_, References references,
                              KeyValueObjects& config_maps, KeyValueObjects& secrets);

}  // namespace muster::runtime
