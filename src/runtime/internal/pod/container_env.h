#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "runtime/internal/files/environment_input.h"
#include "runtime/internal/files/references.h"
#include "runtime/server_address.h"

namespace muster::runtime {

References references_of(const kube::Container& container);

/// Adds the variables by which programs find the API to a base environment (upstream: kubelet,
/// envvars of the Service `kubernetes`).
void add_server_variables(std::vector<std::string>& base, const ServerAddress& server);

struct ContainerProcess {
    std::vector<std::string> environment;  ///< "KEY=value", each key once
    std::vector<std::string> argv;         ///< command and args, expanded; may be empty
};

/// For both of them together. Linux starts no program with more than 6 MiB.
inline constexpr std::size_t kMostProcessText = std::size_t{8} << 20;

/// The environment and the command line of a container, as a kubelet makes them (precedence: base,
/// envFrom in order, env in order). If a ConfigMap, Secret or key is missing and not optional, the
/// error is the kubelet's CreateContainerConfigError message. What takes more than kMostProcessText
/// is kInvalid, before it is in memory.
Result<ContainerProcess> make_process(const kube::Container& container,
                                      const EnvironmentInput& input);

}  // namespace muster::runtime
