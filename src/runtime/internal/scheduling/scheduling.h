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

/// What scheduling looks at in a pod.
struct SchedulingPod {
    std::string key;  ///< "namespace/name"
    std::string job;  ///< of its controller, "PyTorchJob digits"; the pod itself without one
    std::string job_uid;
    std::string created;
    std::map<std::string, kube::Quantity> requests;
    std::set<std::int32_t> ports;
    bool bound = false;  ///< to this node, and not ended
    std::string gang;    ///< those of one name start together; empty: alone
    std::size_t gang_size = 1;
    bool admitted = false;  ///< its gang has started before: this one follows as soon as it fits

    friend bool operator==(const SchedulingPod&, const SchedulingPod&) = default;
};

struct SchedulingNode {
    std::map<std::string, kube::Quantity> allocatable;
    /// All pods share one network: two jobs must not use one port.
    bool shared_network = false;
    /// `kubectl cordon`: what is bound stays, nothing more comes.
    bool unschedulable = false;
};

struct Placement {
    std::string key;
    bool bind = false;
    std::string message;  ///< why not; empty while its gang is not complete

    friend bool operator==(const Placement&, const Placement&) = default;
};

/// A pod's requests as the scheduler sums them: all containers and sidecars together, or the
/// largest init container beside the sidecars before it if that is more; a missing request is the
/// limit. What is not a quantity counts nothing.
std::map<std::string, kube::Quantity> requests_of(const kube::PodSpec& spec);

/// Decides about every pod that is not bound. Pure.
///
/// - Gangs start all or nothing: once gang_size of their pods are there and fit together. Until all
///   are there they wait without a word.
/// - What belongs to a gang that has started goes first; then the oldest.
/// - A younger one may pass what waits, but only if it would also fit beside it on an otherwise
///   empty machine, with all that is as young: so nothing starves, and two gangs that each
///   half fit never hold on to their halves.
std::vector<Placement> schedule(std::span<const SchedulingPod* const> pods,
                                const SchedulingNode& node);

}  // namespace muster::runtime
