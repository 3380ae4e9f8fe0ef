#pragma once

#include <memory>

#include "apiserver/aggregation/extension_servers.h"
#include "apiserver/api_server.h"
#include "apiserver/extension_caller.h"
#include "apiserver/internal/claims/default_storage_class.h"
#include "apiserver/internal/quota/pod_priority.h"
#include "apiserver/internal/quota/quotas.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/internal/writing/service_addresses.h"
#include "apiserver/resources/registry.h"
#include "apiserver/watching/watch_cache.h"
#include "apiserver/webhook_caller.h"

namespace muster::apiserver {

/// The state on which the verbs and the controllers work. Owned by the server; everything in it
/// belongs to its loop.
struct ServerState {
    ServerState(asio::any_io_executor executor_, Clock& clock_, Rng& rng_,
                std::unique_ptr<store::Store> store_, ApiServerOptions options_)
        : executor(std::move(executor_)),
          clock(clock_),
          rng(rng_),
          store(std::move(store_)),
          options(options_),
          tasks(executor),
          cache(executor, clock, rng, tasks, options.watches),
          addresses(options.service_range) {}

    asio::any_io_executor executor;
    Clock& clock;
    Rng& rng;
    std::unique_ptr<store::Store> store;
    ApiServerOptions options;
    NodeApi* node = nullptr;
    WebhookCaller* webhooks = nullptr;
    ExtensionCaller* extension_caller = nullptr;
    TaskGroup tasks;
    ReadDefinition read_definition;
    Registry registry;
    ExtensionServers extensions;
    WatchCache cache;
    ServiceAddresses addresses;
    DefaultPriorityClass default_class;
    DefaultStorageClass default_storage;
    Quotas quotas;
};

}  // namespace muster::apiserver
