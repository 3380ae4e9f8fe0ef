#pragma once

#include <string>

#include "base/time/clock.h"
#include "kube/client/client.h"

namespace muster::runtime {

// Who looks at a node (`kubectl describe node`, controllers of a user's own) reads in its lease
// when it was last heard of.

/// How long after a renewal others may take the node for lost, as a kubelet says it.
inline constexpr std::chrono::seconds kLeaseDuration{40};
/// Half of it: a renewal is a write to the disk, and nothing here waits for one.
inline constexpr std::chrono::seconds kLeaseRenewal{20};

/// Says in the node's lease, which is made if it is not there, that it is alive.
Task<Result<void>> renew_node_lease(kube::Client& client, std::string node, WallTime now);

/// Renews the lease until it is cancelled; what fails is said in the log when it begins to. The
/// client and the clock outlive it.
Task<void> keep_node_lease(kube::Client& client, Clock& clock, std::string node);

}  // namespace muster::runtime
