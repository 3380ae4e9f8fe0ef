#pragma once

#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {

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

}  // namespace muster::apiserver
