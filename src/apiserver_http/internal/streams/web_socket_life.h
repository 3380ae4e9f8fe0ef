#pragma once

#include "base/time/clock.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http {

// Codes of a close frame.
inline constexpr std::uint16_t kGoodEnd = 1000;
inline constexpr std::uint16_t kBrokenProtocol = 1002;

/// Runs `task` until it ends, or until the client is found gone: what it does not read hides its
/// end behind what the client sent, so the client is asked now and then.
Task<void> while_client_lives(net::WebSocket& socket, Task<void> task, Clock& clock);

/// After this side's farewell: reads to the other side's, for a while. A connection that ends with
/// unread bytes in it takes with it what was sent last.
Task<void> hear_farewell(net::WebSocket& socket, Clock& clock);

}  // namespace muster::apiserver_http
