#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::runtime {

/// Identifies a start of a container by the one number that a pod's init knows: from it, the
/// process that recovers the pod learns which log, group and status belong to what.
struct RunId {
    std::size_t container = 0;  ///< init containers first
    std::uint32_t launch = 0;   ///< of this container in the pod's life, from 1

    static constexpr std::uint32_t kContainerBits = 12;

    std::uint32_t number() const {
        return launch << kContainerBits | static_cast<std::uint32_t>(container);
    }
    static RunId of(std::uint32_t number) {
        return {.container = number & ((1U << kContainerBits) - 1),
                .launch = number >> kContainerBits};
    }
    /// The number of its log: as in a kubelet, from 0.
    int log() const { return static_cast<int>(launch) - 1; }
};

}  // namespace muster::runtime
