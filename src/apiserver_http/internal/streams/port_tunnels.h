#pragma once

#include <memory>
#include <vector>

#include "apiserver/requests/status_error.h"
#include "apiserver_http/internal/streams/port_connections.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http {

// Two forms of pods/NAME/portforward.

/// What kubectl speaks: SPDY/3.1 as the bytes of the WebSocket's messages. Each connection is two
/// streams with one requestID, for its data and for what went wrong with it.
inline constexpr const char* kSpdyTunnel = "SPDY/3.1+portforward.k8s.io";

/// Both run until the client goes away or all is done.
Task<void> carry_spdy_ports(std::unique_ptr<net::WebSocket> socket,
                            PortConnections::Connect connect, Clock& clock);
/// What older clients speak (v4.channel.k8s.io): the ports are named at once, and have a channel
/// for data (2N) and one for what went wrong (2N + 1) each, whose first message is the port.
Task<void> carry_channel_ports(std::unique_ptr<net::WebSocket> socket,
                               std::vector<std::uint16_t> ports, PortConnections::Connect connect,
                               Clock& clock);

/// The ports of a request for channels: at least one, at most as many as there are channels.
apiserver::StatusResult<std::vector<std::uint16_t>> requested_ports(const kube::Request& request);

}  // namespace muster::apiserver_http
