#pragma once

#include <memory>
#include <vector>

#include "apiserver/requests/status_error.h"
#include "apiserver_http/internal/streams/port_connections.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http {

// The two forms of pods/NAME/portforward.

/// kubectl's form: SPDY/3.1 as the bytes of the WebSocket's messages. Each connection is two
/// streams with one requestID, for its data and for its error.
inline constexpr const char* kSpdyTunnel = "SPDY/3.1+portforward.k8s.io";

/// Both run until the client disconnects or everything is done.
Task<void> carry_spdy_ports(std::unique_ptr<net::WebSocket> socket,
                            PortConnections::Connect connect, Clock& clock);
/// The form of older clients (v4.channel.k8s.io): the ports are all named at the start, and each
/// has a channel for data (2N) and one for errors (2N + 1), whose first message is the port.
Task<void> carry_channel_ports(std::unique_ptr<net::WebSocket> socket,
                               std::vector<std::uint16_t> ports, PortConnections::Connect connect,
                               Clock& clock);

/// The ports of a request for channels: at least one, at most as many as there are channels.
apiserver::StatusResult<std::vector<std::uint16_t>> requested_ports(const kube::Request& request);

}  // namespace muster::apiserver_http
