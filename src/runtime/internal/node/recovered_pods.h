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

/// The pods below a node's state directory that still run although their node has ended.
/// Directories of other pods are removed. Blocks as long as recover_pod() does; an init that does
/// not answer is an error, as its pod may or may not run.
Result<RecoveredPods> recover_pods(const std::filesystem::path& state_dir);

/// Removes the directory of a pod that has ended; logs what can't be removed.
void remove_pod_directory(const std::filesystem::path& directory);

/// The network of the router that they are connected to, of which there is one at a time; unset if
/// they share the machine's.
Result<UniqueFd> network_of(const RecoveredPods& pods);

/// Ends the pods on a network other than `network` (-1: the machine's), and removes them from
/// `pods`: they could not be reached.
Result<void> end_unreachable(RecoveredPods& pods, int network);

}  // namespace muster::runtime
