#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "runtime/internal/files/pod_files.h"
#include "runtime/internal/sandbox/recovered_pod.h"

namespace muster::runtime {

struct NamedRecoveredPod {
    PodName name;
    std::filesystem::path directory;
    RecoveredPod pod;
};
/// By uid.
using RecoveredPods = std::map<std::string, NamedRecoveredPod>;

/// The pods below a node's state directory that still run although their node has ended. The
/// directories of others are removed. Blocks for as long as recover_pod() does; an init that does
/// not answer is an error, as nothing can tell whether its pod runs.
Result<RecoveredPods> recover_pods(const std::filesystem::path& state_dir);

/// Removes the directory of a pod that has ended; what can't be removed is logged.
void remove_pod_directory(const std::filesystem::path& directory);

/// The network of the router that they hang on, of which there is one at a time; none where they
/// share the machine's.
Result<UniqueFd> network_of(const RecoveredPods& pods);

/// Ends those that hang on another network than `network` (-1: than the machine's), and takes them
/// out: they could not be reached.
Result<void> end_unreachable(RecoveredPods& pods, int network);

}  // namespace muster::runtime
