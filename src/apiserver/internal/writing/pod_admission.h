#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "apiserver/internal/quota/limit_range.h"
#include "apiserver/internal/quota/pod_priority.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

// What kube-apiserver's plugins give a new object: LimitRanger, ServiceAccount and Priority a pod,
// DefaultStorageClass a claim, and StorageObjectInUseProtection claims and volumes.

bool is_pod(const Target& target);

/// What other objects say about a new pod or a new claim of storage, taken from the cache at one
/// moment.
struct Surroundings {
    LimitRanges ranges = {};
    struct Account {
        std::string name;
        kube::ObjectPtr object = nullptr;  ///< null: it does not exist
    };
    /// Of a pod on a server whose accounts have tokens.
    std::optional<Account> account = {};
    /// Of a pod.
    std::optional<PodPriority> priority = {};
    /// The class that a pod names and that does not exist.
    std::string missing_class = {};
    /// Of a claim: the class that it gets if it names none; empty: none.
    std::string storage_class = {};
};
Surroundings surroundings_of(const ServerState& state, const Target& target,
                             const json::object& object);

/// Whether a pod's account is that which the server makes in every namespace, and is not there yet.
bool needs_default_account(const ServerState& state, const Target& target, const json::object& pod);

/// Gives a new pod the defaults of the LimitRanges, what comes from its account, and its priority,
/// or refuses it. Done again after webhooks have changed the pod; `suffix` ends the name of the
/// volume with its token. Pure.
StatusResult<void> admit_pod(const Target& target, json::object& pod,
                             const Surroundings& surroundings, std::string_view suffix);
/// Gives a new claim its class, and claims and volumes the finalizers that hold them while they are in
/// use. Pure.
void admit_storage(const Target& target, json::object& object, const Surroundings& surroundings);
/// Refuses a pod whose account does not exist. Pure.
StatusResult<void> check_account(const Target& target, const json::object& pod,
                                 const Surroundings& surroundings);

}  // namespace muster::apiserver
