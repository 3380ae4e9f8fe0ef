#pragma once

#include <string>
#include <vector>

namespace muster::cli {

/// What this program does under the name of kube-apiserver: it serves the API as 'muster up
/// --api-only' does, with its objects in the data directory of the etcd that it is told. Blocks until
/// SIGTERM or SIGINT; the exit status.
int run_kube_apiserver(const std::vector<std::string>& words);

}  // namespace muster::cli
