#pragma once

#include <memory>
#include <optional>

#include "apiserver/aggregation/extension_servers.h"
#include "apiserver/authentication/token_rules.h"
#include "apiserver/extension_caller.h"
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

/// A server as seen by a front end that authenticates requests: it serves requests for targets from
/// route(), and provides the data by which the front end decides whether to pass one on.
/// Authorization has been decided before a request gets here. Thread: the server's loop.
class RequestHandler {
  public:
    virtual ~RequestHandler() = default;

    /// Writes are made on behalf of `requester`.
    virtual Task<StatusResult<Reply>> call(Target target, kube::Request request,
                                           Requester requester) = 0;
    virtual Task<StatusResult<std::unique_ptr<Watcher>>> watch(Target target,
                                                               kube::Request request) = 0;
    virtual Task<StatusResult<std::unique_ptr<kube::TextStream>>> log(Target target,
                                                                      kube::Request request) = 0;

    /// The resources served at this moment.
    virtual const Registry& registry() const = 0;
    /// The servers behind APIServices, and what they serve.
    virtual const ExtensionServers& extensions() const = 0;
    /// One of them, at a place where it can be reached now.
    virtual Task<Result<ExtensionEndpoint>> place_of(ExtensionServer server) const = 0;
    /// How they are called; null: none can be.
    virtual ExtensionCaller* extension_caller() const = 0;
    /// The objects stored at this moment: a role is in force once its write is answered.
    virtual const WatchCache& cache() const = 0;
    /// Access to the containers of pods; may be null.
    virtual NodeApi* node() const = 0;
    /// Signs the tokens of service accounts; null: there are none.
    virtual const net::SigningKey* signing_key() const = 0;
    virtual const TokenRules& token_rules() const = 0;
    /// Why writes are refused, if the store can't write any more.
    virtual std::optional<Error> write_failure() const = 0;
    virtual Clock& clock() const = 0;
    virtual Rng& rng() const = 0;
};

}  // namespace muster::apiserver
