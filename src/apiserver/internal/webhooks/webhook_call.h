#pragma once

#include <string>

#include "apiserver/internal/server_state.h"
#include "apiserver/webhook_caller.h"

namespace muster::apiserver {

/// Posts to a webhook, that of a service at one of the places where the service leads to now. The
/// error is in the words of client-go. `state` outlives the call.
Task<Result<std::string>> call_webhook(ServerState& state, WebhookEndpoint endpoint,
                                       std::string body, Duration time);

}  // namespace muster::apiserver
