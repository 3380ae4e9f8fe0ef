#pragma once

#include <csignal>
#include <optional>

namespace muster::runtime {

/// A signal for the program of a pod.
struct PodSignal {
    int number = SIGKILL;
    /// Not for the program but for the worker of this rank below it, as torchrun and its like start
    /// them: with RANK and LOCAL_RANK.
    std::optional<int> rank;
};

/// What befalls a running pod to see how its job bears it; it lasts until it is undone.
enum class PodFault {
    kPause,      ///< its programs and all below them stand still
    kPartition,  ///< nothing reaches it and nothing leaves it
};

}  // namespace muster::runtime
