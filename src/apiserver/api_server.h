#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/api_server_options.h"
#include "apiserver/extension_caller.h"
#include "apiserver/node_api.h"
#include "apiserver/webhook_caller.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "store/store.h"

namespace muster::apiserver {

class RequestHandler;

/// The embedded Kubernetes API: a function from a request to a response or a stream. It refuses
/// what a real server refuses, with the same Status reason and code. It has no socket: callers
/// reach it as a kube::Transport.
///
/// Owns the watch cache, the type registry and the server-side controllers (owner garbage
/// collection, namespace deletion, CRD establishment). start() starts them and stop() ends them;
/// requests are served in between. Thread: one loop.
class ApiServer final : public kube::Transport {
  public:
    ApiServer(asio::any_io_executor executor, Clock& clock, Rng& rng,
              std::unique_ptr<store::Store> store, ApiServerOptions options = {});
    ~ApiServer() override;

    /// Sets how admission webhooks are called; without it none can be. To be called before start();
    /// `caller` outlives the server.
    void connect_webhooks(WebhookCaller& caller);
    /// Sets how the servers behind APIServices are reached; without it none can be. To be called
    /// before start(); `caller` outlives the server.
    void connect_extensions(ExtensionCaller& caller);
    /// Sets the source of pod logs; without it requests for logs are refused. To be called before
    /// start().
    void connect_node(NodeApi& node);

    /// Creates the namespaces that every cluster has and starts the controllers.
    Task<Result<void>> start();
    /// Commits the writes in progress. Then the store is stopped.
    Task<void> stop();

    /// For a front end that authenticates requests itself. It lives as long as the server.
    RequestHandler& handler();

    Task<Result<kube::Response>> call(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::apiserver
