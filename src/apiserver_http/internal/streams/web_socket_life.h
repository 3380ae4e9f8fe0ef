#pragma once

#include "base/time/clock.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http {

// Codes of a close frame.
inline constexpr std::uint16_t kGoodEnd = 1000;
inline constexpr std::uint16_t kBrokenProtocol = 1002;

/// Runs `task` until it ends, or until the client turns out to be gone. Unread data hide the end of
/// the connection, so the client is pinged now and then.
Task<void> while_client_lives(net::WebSocket& socket, Task<void> task, Clock& clock);

/// After this side's close frame: reads up to the other side's, for a while. If a connection ends
/// with unread bytes, the last data sent are lost.
Task<void> hear_farewell(net::WebSocket& socket, Clock& clock);

}  // namespace muster::apiserver_http
