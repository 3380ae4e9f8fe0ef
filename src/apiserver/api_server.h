#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/api_server_options.h"
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
/// collection, namespace deletion, CRD establishment). Starts them with start(), ends them with
/// stop(); requests are served in between. Thread: one loop.
class ApiServer final : public kube::Transport {
  public:
    ApiServer(asio::any_io_executor executor, Clock& clock, Rng& rng,
              std::unique_ptr<store::Store> store, ApiServerOptions options = {});
    ~ApiServer() override;

    /// How admission webhooks are called; without it none can be. Set before start(), and outlives
    /// the server.
    void connect_webhooks(WebhookCaller& caller);
    /// Where pod logs come from; without one they are refused. Set before start().
    void connect_node(NodeApi& node);

    /// Creates the namespaces that every cluster has and starts the controllers.
    Task<Result<void>> start();
    /// Writes that are under way are still committed. Then the store is stopped.
    Task<void> stop();

    /// For a front that knows who asks. It lives as long as the server.
    RequestHandler& handler();

    Task<Result<kube::Response>> call(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::apiserver
