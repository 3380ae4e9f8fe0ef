#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client_config/client_config.h"
#include "master_process/arguments.h"

namespace muster::master_process {

/// How to reach the API server that keeps the record; asked only if the arguments say so.
using FindAccess = std::function<Result<kube::ClientConfig>(const Arguments&)>;

/// In a pod, as its service account.
Result<kube::ClientConfig> access_in_pod(const std::vector<std::string>& environment);

/// `muster master`: serves the agents of one job until that has ended, another master takes over, or
/// a signal stops it. Returns the exit status that the help text has. `environment` is "NAME=VALUE".
/// Blocks; the loop is its own. Changes the log's form and level for the process.
int run_master(const Arguments& arguments, std::vector<std::string> environment,
               const FindAccess& find_access);

}  // namespace muster::master_process
