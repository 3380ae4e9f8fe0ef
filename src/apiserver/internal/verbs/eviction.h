#pragma once

#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"
#include "apiserver/requests/reply.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

/// POST pods/NAME/eviction: deletes the pod if the disruption budget that covers it allows one more
/// eviction.
Task<StatusResult<Reply>> evict_pod(ServerState& state, Writer& writer, Target target,
                                    kube::Request request);

}  // namespace muster::apiserver
