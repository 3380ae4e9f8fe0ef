#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/pod.h"
#include "kube/quantity.h"

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

    friend bool operator==(const SchedulingPod&, const SchedulingPod&) = default;
};

struct SchedulingNode {
    std::map<std::string, kube::Quantity> allocatable;
    /// All pods share one network: two jobs must not use one port.
    bool shared_network = false;
};

struct Placement {
    std::string key;
    bool bind = false;
    std::string message;  ///< why not

    friend bool operator==(const Placement&, const Placement&) = default;
};

/// A pod's requests as the scheduler sums them: all containers together, or the largest init
/// container if that is more; a missing request is the limit. What is not a quantity counts
/// nothing.
std::map<std::string, kube::Quantity> requests_of(const kube::PodSpec& spec);

/// Decides about every pod that is not bound, oldest first. Pure.
std::vector<Placement> schedule(const std::vector<SchedulingPod>& pods, const SchedulingNode& node);

}  // namespace muster::runtime
