#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kube/objects/pod.h"
#include "kube/values/quantity.h"

namespace muster::runtime {

/// What scheduling reads of a pod.
struct SchedulingPod {
    std::string key;  ///< "namespace/name"
    std::string job;  ///< of its controller, "PyTorchJob digits"; the pod itself without one
    std::string job_uid;
    std::string created;
    std::map<std::string, kube::Quantity> requests;
    std::set<std::int32_t> ports;
    bool bound = false;  ///< to this node, and not ended
    std::string gang;    ///< pods with the same name start together; empty: alone
    std::size_t gang_size = 1;
    bool admitted = false;  ///< its gang has started before, so this one follows as soon as it fits

    friend bool operator==(const SchedulingPod&, const SchedulingPod&) = default;
};

struct SchedulingNode {
    std::map<std::string, kube::Quantity> allocatable;
    /// All pods share one network: two jobs must not use the same port.
    bool shared_network = false;
    /// `kubectl cordon`: bound pods stay, no more are bound.
    bool unschedulable = false;
};

struct Placement {
    std::string key;
    bool bind = false;
    std::string message;  ///< the reason; empty while its gang is not complete

    friend bool operator==(const Placement&, const Placement&) = default;
};

/// Decides about every pod that is not bound. Pure.
///
/// - Gangs start all or nothing: once gang_size of their pods exist and fit together. Until all
///   exist they wait without a message.
/// - Pods of a gang that has started go first; then the oldest.
/// - A younger pod may pass one that waits, but only if both would also fit on an otherwise empty
///   machine, with all pods that are as young: so nothing starves, and two gangs that each fit by
///   half never hold on to their halves.
std::vector<Placement> schedule(std::span<const SchedulingPod* const> pods,
                                const SchedulingNode& node);

}  // namespace muster::runtime
