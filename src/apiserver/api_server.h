#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/node_api.h"
#include "apiserver/store.h"
#include "apiserver/webhook_caller.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "kube/transport/transport.h"
#include "net/signing_key.h"

namespace muster::apiserver {

struct ServerState;

struct ApiServerOptions {
    /// Changes of all resources that are kept for watches that resume; an older revision is
    /// answered with 410.
    std::size_t watch_history = 10'000;
    /// A watcher that is this far behind is ended with 410 instead of being buffered without bound.
    std::size_t watcher_buffer = 20'000;
    Duration bookmark_interval = std::chrono::minutes(1);
    /// Keeps metadata.managedFields and serves server-side apply. Without it managedFields are
    /// stored as they are sent, and an apply is refused with 415: whoever has no client that asks
    /// for either saves what they cost every write.
    bool manage_fields = false;
    /// Roles and bindings that every cluster has are posted at the start, for clients that are not
    /// the admin.
    bool default_roles = false;
    /// Service accounts have tokens, signed with this key, and every namespace the account
    /// `default`. Null: there are none.
    std::shared_ptr<const net::SigningKey> signing_key = nullptr;
    /// What clients trust the server by (PEM): in a ConfigMap kube-root-ca.crt of each namespace.
    /// Empty: there is none.
    std::string root_ca_pem = {};
};

/// The embedded Kubernetes API: a function from a request to a response or a stream. It refuses
/// what a real server refuses, with the same Status reason and code. It has no socket: callers
/// reach it as a kube::Transport.
///
/// Owns the watch cache, the type registry and the server-side controllers (owner garbage
/// collection, namespace deletion, CRD establishment). Starts them with start(), ends them with
/// stop(); requests are served in between. Thread: one loop.
class ApiServer final : public kube::Transport {
  public:
    ApiServer(asio::any_io_executor executor, Clock& clock, Rng& rng, std::unique_ptr<Store> store,
              ApiServerOptions options = {});
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

    /// Why writes are refused, once the store can't keep them any more.
    std::optional<Error> write_failure() const;

    Task<Result<kube::Response>> call(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override;

  private:
    friend class HttpFront;

    ServerState& state();

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::apiserver
