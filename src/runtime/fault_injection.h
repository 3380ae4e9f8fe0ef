#pragma once

#include <csignal>
#include <optional>

namespace muster::runtime {

/// A signal for the program of a pod.
struct PodSignal {
    int number = SIGKILL;
    /// Not for the program but for the worker of this rank below it, as torchrun and similar
    /// launchers start them: with RANK and LOCAL_RANK.
    std::optional<int> rank;
};

/// A fault of a running pod, to see how its job copes; it lasts until it is undone.
enum class PodFault {
    kPause,      ///< its programs and all processes below them are paused
    kPartition,  ///< it receives nothing and sends nothing
};

}  // namespace muster::runtime
