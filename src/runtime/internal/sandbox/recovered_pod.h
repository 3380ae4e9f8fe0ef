#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::runtime {

/// A pod that still runs although the process that started it has ended, by its init's first words.
struct RecoveredPod {
    UniqueFd control;  ///< more reports are to be read: what was started so far, then kTold
    UniqueFd init;     ///< its pidfd
    UniqueFd network;  ///< of the router that it hangs on; none without namespaces
    std::uint32_t address = 0;
    std::uint32_t link_index = 0;   ///< of the router's side
    std::uint32_t connections = 0;  ///< how many have found it, with us
    std::string note;               ///< SandboxSpec::note
};

/// The socket at which a pod's init is found, for paths of any length. What was there is replaced.
Result<UniqueFd> listen_for_successor(const std::filesystem::path& socket);

/// Connects to the init of a pod that outlived the process which started it; from then on the init
/// obeys this connection alone. Blocks until it answers: nearly at once, but for a stopped one,
/// which is kTimeout. kUnavailable when it is gone.
Result<RecoveredPod> recover_pod(const std::filesystem::path& socket);

/// Ends it with all that it runs, and waits until nothing is left.
Result<void> end_pod(RecoveredPod pod);

}  // namespace muster::runtime
