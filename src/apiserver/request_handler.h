#pragma once

#include <memory>
#include <optional>

#include "apiserver/node_api.h"
#include "apiserver/requests/reply.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "apiserver/resources/registry.h"
#include "apiserver/watching/watch_cache.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {

/// A server as a front sees it that knows who asks: requests for what route() found, and what the
/// front decides from before it passes one on. Whether the requester may do it has been decided by
/// then. Thread: the server's loop.
class RequestHandler {
  public:
    virtual ~RequestHandler() = default;

    /// Writes are done on behalf of `requester`.
    virtual Task<StatusResult<Reply>> call(Target target, kube::Request request,
                                           Requester requester) = 0;
    virtual Task<StatusResult<std::unique_ptr<Watcher>>> watch(Target target,
                                                               kube::Request request) = 0;
    virtual Task<StatusResult<std::unique_ptr<kube::TextStream>>> log(Target target,
                                                                      kube::Request request) = 0;

    /// What is served at this moment.
    virtual const Registry& registry() const = 0;
    /// What is stored at this moment: a role is in force with the answer to its write.
    virtual const WatchCache& cache() const = 0;
    /// Where the containers of pods are reached; null: nowhere.
    virtual NodeApi* node() const = 0;
    /// What the tokens of service accounts are signed with; null: there are none.
    virtual const net::SigningKey* signing_key() const = 0;
    /// Why writes are refused, once the store can't keep them any more.
    virtual std::optional<Error> write_failure() const = 0;
    virtual Clock& clock() const = 0;
    virtual Rng& rng() const = 0;
};

}  // namespace muster::apiserver
