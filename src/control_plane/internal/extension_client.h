#pragma once

#include <list>
#include <memory>
#include <string>

#include "apiserver/extension_caller.h"
#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "control_plane/internal/endpoint_dial.h"
#include "net/http/http_client.h"
#include "net/tls/certificates.h"
#include "net/tls/tls.h"

namespace muster::control_plane {

/// Calls the servers behind APIServices, with a connection for each request. An endpoint is an
/// address or a name of this machine's networks, or a pod. What is needed to verify a server is
/// kept for the ones called last. Thread: the loop. stop() it before it is destroyed, when no body
/// is read any more but by its own callers, whose calls end then.
class ExtensionClient final : public apiserver::ExtensionCaller {
  public:
    /// `shown`: the certificate by which the servers know this one.
    ExtensionClient(asio::any_io_executor executor, Clock& clock, net::KeyPair shown,
                    EndpointDial::ConnectToPod connect_to_pod);

    Task<Result<std::unique_ptr<net::HttpBody>>> open(apiserver::ExtensionEndpoint endpoint,
                                                      net::HttpRequest request, Duration time,
                                                      Duration body_time) override;
    Task<Result<net::HttpUpgrade>> upgrade(apiserver::ExtensionEndpoint endpoint,
                                           net::HttpRequest request, Duration time) override;
    Task<void> stop();

  private:
    struct Call;
    class Held;
    class Body;
    struct KeepsTls;
    class Stream;
    using Tls = std::shared_ptr<net::TlsClientContext>;
    struct Context {
        std::string ca_pem;
        bool insecure = false;
        Tls tls;
    };

    Result<Tls> context_of(const apiserver::ExtensionEndpoint& endpoint);
    Result<std::shared_ptr<Call>> begin(const apiserver::ExtensionEndpoint& endpoint);
    Task<void> finish(std::shared_ptr<Call> call);

    asio::any_io_executor executor_;
    Clock& clock_;
    const net::KeyPair shown_;
    EndpointDial dial_;
    TaskGroup tasks_;
    std::list<Context> contexts_;  ///< the one used last comes first
    std::list<std::shared_ptr<Call>> calls_;
    Signal ended_;
    bool stopping_ = false;
};

}  // namespace muster::control_plane
