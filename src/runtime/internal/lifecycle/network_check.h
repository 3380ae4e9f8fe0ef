#pragma once

#include <functional>
#include <string>

#include "base/async/async.h"
#include "base/unique_fd.h"
#include "runtime/internal/lifecycle/check_result.h"
#include "runtime/internal/lifecycle/handler.h"

namespace muster::runtime {

/// Opens a TCP socket, not connected and non-blocking, from which pods can be reached.
using OpenSocket = std::function<Result<UniqueFd>()>;

// Checks of a pod over the network. `host` of the check is an address. When cancelled, they leave
// nothing behind. Thread: the loop.

/// Whether it accepts a connection.
Task<CheckResult> check_tcp(asio::any_io_executor executor, OpenSocket open, TcpCheck check);

/// Whether a GET is answered with a status of 200 to 399; redirects are not followed. Reads no more
/// than the answer's header.
Task<CheckResult> check_http(asio::any_io_executor executor, OpenSocket open, HttpCheck check);

}  // namespace muster::runtime
