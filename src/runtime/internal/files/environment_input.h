#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/objects/pod.h"
#include "kube/values/quantity.h"

namespace muster::runtime {

/// The decoded data of a ConfigMap or a Secret.
using KeyValues = std::map<std::string, std::string, std::less<>>;
/// By name; missing ones do not exist.
using KeyValueObjects = std::map<std::string, KeyValues, std::less<>>;

/// What the environment of a container depends on, besides its own fields.
struct EnvironmentInput {
    const kube::Pod& pod;
    const KeyValueObjects& config_maps;
    const KeyValueObjects& secrets;
    std::vector<std::string> base;  ///< "KEY=value", the lowest precedence
    std::string hostname;
    std::string pod_ip;
    std::string host_ip;
    std::string node_name;
    kube::Quantity node_cpu;  ///< the value of a missing limit
    kube::Quantity node_memory;
    /// Names to be replaced by addresses in plain values; empty if names resolve.
    std::map<std::string, std::string, std::less<>> addresses;
};

}  // namespace muster::runtime
