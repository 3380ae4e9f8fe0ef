#pragma once

#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "cli/internal/envtest/store_place.h"
#include "control_plane/listen_address.h"

namespace muster::cli {

/// Where the etcd of this program, which is at one of these addresses, lets objects be kept. Waits for
/// 20 seconds until one of them answers. kInvalid if another program does.
Task<Result<StorePlace>> ask_etcd(asio::any_io_executor executor, Clock& clock,
                                  std::vector<control_plane::ListenAddress> servers);

}  // namespace muster::cli
