#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "kube/values/quantity.h"
#include "runtime/server_address.h"

namespace muster::runtime {

/// Replaces `$(VAR)` by what `lookup` knows, and `$$` by `$`; an unknown or unterminated reference
/// stays as it is (upstream: k8s third_party/forked/golang/expansion).
std::string expand_variables(std::string_view text,
                             const std::function<const std::string*(std::string_view)>& lookup);

/// The decoded data of a ConfigMap or a Secret.
using KeyValues = std::map<std::string, std::string, std::less<>>;
/// By name; missing ones do not exist.
using KeyValueObjects = std::map<std::string, KeyValues, std::less<>>;

/// The ConfigMaps and Secrets that a container's environment or a pod's volumes refer to.
struct References {
    std::vector<std::string> config_maps;
    std::vector<std::string> secrets;
};
References references_of(const kube::Container& container);

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

/// Adds the variables by which programs find the API to a base environment (upstream: kubelet,
/// envvars of the Service `kubernetes`).
void add_server_variables(std::vector<std::string>& base, const ServerAddress& server);

struct ContainerProcess {
    std::vector<std::string> environment;  ///< "KEY=value", each key once
    std::vector<std::string> argv;         ///< command and args, expanded; may be empty
};

/// The environment and the command line of a container, as a kubelet makes them (precedence: base,
/// envFrom in order, env in order). If a ConfigMap, Secret or key is missing and not optional, the
/// error is the kubelet's CreateContainerConfigError message.
Result<ContainerProcess> make_process(const kube::Container& container,
                                      const EnvironmentInput& input);

}  // namespace muster::runtime
