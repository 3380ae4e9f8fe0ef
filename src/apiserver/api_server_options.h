#pragma once

#include <memory>
#include <string>

#include "apiserver/authentication/token_rules.h"
#include "apiserver/objects/service_range.h"
#include "apiserver/volume_places.h"
#include "apiserver/watching/watch_options.h"
#include "base/async/side_thread.h"
#include "base/time/clock.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {

struct ApiServerOptions {
    WatchOptions watches = {};
    /// Keeps metadata.managedFields and serves server-side apply. Without it managedFields are
    /// stored as they are sent, and an apply is refused with 415: a server whose clients need
    /// neither saves the cost for every write.
    bool manage_fields = false;
    /// The roles and bindings that every cluster has are posted at the start, for clients other
    /// than the admin.
    bool default_roles = false;
    /// The priority classes of the system are posted at the start, and a pod that names a class that
    /// does not exist is refused. False: such a pod has the priority 0.
    bool priority_classes = false;
    /// What kube-controller-manager and the admission of service accounts do is done, too. False:
    /// no owner's dependents are collected and no namespace has the account `default`, as test
    /// suites expect it of a server alone, which make objects of owners that are not there.
    bool cluster_controllers = true;
    /// Controllers beside this server act on Deployments, ReplicaSets, Jobs and CronJobs. False:
    /// whoever makes one is warned that nothing happens with it.
    bool workload_controllers = false;
    /// Pods need their service account even if nothing makes it, as cluster_controllers would.
    bool pods_need_accounts = false;
    /// Where services get their addresses from; the first is that of the Service kubernetes.
    ServiceRange service_range = {};
    /// Claims to volumes are bound, to directories if no volume suits.
    VolumePlaces volumes = {};
    /// How long an event is kept after it was written last; zero: for as long as the server.
    Duration event_ttl{};
    /// How long the answer of a write is held back after the watchers were told of it. Test suites
    /// read the caches of their watches right after a write, and pass with kube-apiserver, whose
    /// answers come a millisecond after the events.
    Duration answers_after_events{};
    /// Service accounts have tokens, signed with this key, and every namespace has the account
    /// `default`. Null: there are none.
    std::shared_ptr<const net::SigningKey> signing_key = nullptr;
    TokenRules token_rules = {};
    /// The certificate by which clients trust the server (PEM), in a ConfigMap kube-root-ca.crt of
    /// each namespace. Empty: there is none.
    std::string root_ca_pem = {};
    /// By what authority servers that extend this one know it, if it calls them (PEM). Empty: it has
    /// no certificate to show.
    std::string front_proxy_ca_pem = {};
    /// There is an APIService for each version that is served.
    bool register_versions = false;
    /// Decides about large objects, which would hold the loop; it outlives the server. Null: the
    /// loop does everything.
    SideThread* side_thread = nullptr;
};

}  // namespace muster::apiserver
