#pragma once

#include <string>
#include <vector>

#include "base/async/async.h"
#include "cli/internal/envtest/store_place.h"
#include "net/http/http_server.h"

namespace muster::cli {

/// What this program does under the name of etcd: it says where the objects of kube-apiserver lie, and
/// whether it is there. It holds none. Blocks until SIGTERM or SIGINT; the exit status.
int run_etcd(const std::vector<std::string>& words);

/// Answers one request.
Task<void> answer_as_etcd(net::HttpExchange& exchange, const StorePlace& place);

}  // namespace muster::cli
