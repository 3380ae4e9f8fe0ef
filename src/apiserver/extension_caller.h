#pragma once

#include <memory>

#include "apiserver/webhook_caller.h"
#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "net/http/http_client.h"

namespace muster::apiserver {

/// Where a server behind an APIService listens.
struct ExtensionEndpoint {
    WebhookEndpoint where;
    bool insecure = false;  ///< its certificate is not checked
};

/// How the API reaches the servers behind APIServices: over TLS, with a certificate by which they
/// know it. The composition root connects it to the network.
class ExtensionCaller {
  public:
    virtual ~ExtensionCaller() = default;

    /// The head of the answer within `time`, and the whole of it within `body_time` of that. No
    /// redirect is followed. Any failure says, in Go's words where they are known, what went wrong.
    /// The body ends before the caller does.
    virtual Task<Result<std::unique_ptr<net::HttpBody>>> open(ExtensionEndpoint endpoint,
                                                              net::HttpRequest request,
                                                              Duration time,
                                                              Duration body_time) = 0;
    /// For a request that has its Connection and Upgrade fields.
    virtual Task<Result<net::HttpUpgrade>> upgrade(ExtensionEndpoint endpoint,
                                                   net::HttpRequest request, Duration time) = 0;
};

}  // namespace muster::apiserver
