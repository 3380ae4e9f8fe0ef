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

/// `$(VAR)` replaced by what `lookup` knows, `$$` by `$`; an unknown or unterminated reference
/// stays as it is (upstream: k8s third_party/forked/golang/expansion).
std::string expand_variables(std::string_view text,
                             const std::function<const std::string*(std::string_view)>& lookup);

/// The data of a ConfigMap or of a Secret, decoded.
using KeyValues = std::map<std::string, std::string, std::less<>>;
/// By name; what is not there does not exist.
using KeyValueObjects = std::map<std::string, KeyValues, std::less<>>;

/// The ConfigMaps and Secrets that a container's environment or a pod's volumes refer to.
struct References {
    std::vector<std::string> config_maps;
    std::vector<std::string> secrets;
};
References references_of(const kube::Container& container);

/// What the environment of a container follows from, besides its own fields.
struct EnvironmentInput {
    const kube::Pod& pod;
    const KeyValueObjects& config_maps;
    const KeyValueObjects& secrets;
    std::vector<std::string> base;  ///< "KEY=value", the lowest precedence
    std::string hostname;
    std::string pod_ip;
    std::string host_ip;
    std::string node_name;
    kube::Quantity node_cpu;  ///< what a missing limit counts as
    kube::Quantity node_memory;
    /// Names to be replaced by addresses in plain values; empty where names resolve.
    std::map<std::string, std::string, std::less<>> addresses;
};

/// Adds to a base environment by what programs find the API (upstream: kubelet, envvars of the
/// Service `kubernetes`).
void add_server_variables(std::vector<std::string>& base, const ServerAddress& server);

struct ContainerProcess {
    std::vector<std::string> environment;  ///< "KEY=value", each key once
    std::vector<std::string> argv;         ///< command and args, expanded; may be empty
};

/// The environment and the command line of a container, as a kubelet makes them (precedence: base,
/// envFrom in order, env in order). A missing ConfigMap, Secret or key that is not optional is the
/// kubelet's CreateContainerConfigError message.
Result<ContainerProcess> make_process(const kube::Container& container,
                                      const EnvironmentInput& input);

}  // namespace muster::runtime
