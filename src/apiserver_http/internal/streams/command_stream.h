#pragma once

#include <memory>

#include "base/error.h"
#include "base/time/clock.h"
#include "kube/objects/command_session.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http {

/// Carries a command's streams over a WebSocket in one of the channel protocols, until the command
/// has ended and the client was told how, or the client has disconnected, which ends the session.
Task<void> carry_command(std::unique_ptr<net::WebSocket> socket,
                         std::unique_ptr<kube::CommandSession> session, Clock& clock);

/// Tells the client in the same way why there is no such command.
Task<void> refuse_command(std::unique_ptr<net::WebSocket> socket, Error why, Clock& clock);

}  // namespace muster::apiserver_http
