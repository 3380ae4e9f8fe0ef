#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

/// A pod that still runs although the process that started it has ended, from its init's first
/// report.
struct RecoveredPod {
    UniqueFd control;  ///< more reports can be read: what was started so far, then kTold
    UniqueFd init;     ///< its pidfd
    UniqueFd network;  ///< of the router that it is connected to; unset without namespaces
    std::uint32_t address = 0;
    std::uint32_t link_index = 0;   ///< of the router's side
    std::uint32_t connections = 0;  ///< how many have connected to it, including us
    std::string note;               ///< SandboxSpec::note
};

/// Listens on the socket of a pod's init, for paths of any length. Replaces an existing file.
Result<UniqueFd> listen_for_successor(const std::filesystem::path& socket);

/// Connects to the init of a pod that outlived the process which started it; from then on the init
/// obeys only this connection. Blocks until it answers: almost immediately, except for a stopped
/// one, which is kTimeout. kUnavailable if it is gone.
Result<RecoveredPod> recover_pod(const std::filesystem::path& socket);

/// Ends it with everything that it runs, and waits until nothing is left.
Result<void> end_pod(RecoveredPod pod);

}  // namespace muster::runtime
