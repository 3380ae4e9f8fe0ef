#pragma once

#include <string>

#include "base/time/clock.h"
#include "kube/client/client.h"

namespace muster::runtime {

// Tools that examine a node (`kubectl describe node`, a user's own controllers) read in its lease
// when it was last alive.

/// How long after a renewal others may consider the node lost; the same as in a kubelet.
inline constexpr std::chrono::seconds kLeaseDuration{40};
/// Half of it: a renewal is a write to the disk, and nothing here waits for one.
inline constexpr std::chrono::seconds kLeaseRenewal{20};

/// Renews the node's lease, which is made if it does not exist.
Task<Result<void>> renew_node_lease(kube::Client& client, std::string node, WallTime now);

/// Renews the lease until it is cancelled; a failure is logged when it begins. The client and the
/// clock outlive it.
Task<void> keep_node_lease(kube::Client& client, Clock& clock, std::string node);

}  // namespace muster::runtime
