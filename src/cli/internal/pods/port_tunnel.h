#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "net/byte_stream.h"
#include "net/http/web_socket.h"

namespace muster::cli {

/// The sub-protocol in which kubectl forwards ports, and so do we: SPDY/3.1 in the messages of a
/// WebSocket. Unlike the older channels it tells the end of each direction.
inline constexpr const char* kPortProtocol = "SPDY/3.1+portforward.k8s.io";

/// Carries one connection to a pod's port, until the pod has ended it or `here` is gone. Both are
/// closed then. An error says why the pod's port can't be reached.
Task<Result<void>> carry_to_port(std::unique_ptr<net::WebSocket> pod,
                                 std::unique_ptr<net::ByteStream> here, std::uint16_t port);

}  // namespace muster::cli
