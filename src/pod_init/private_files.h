#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::pod_init {

/// How a pod sees the machine's files copy-on-write.
struct PrivateFiles {
    enum class Scope : std::uint8_t {
        kNone,       ///< shared: writes persist
        kDirectory,  ///< `directory` and what is below
        kMachine,    ///< everything but `kept`
    };
    Scope scope = Scope::kNone;
    std::string directory;
    std::vector<std::string> kept;  ///< these and everything below stay the machine's own
    /// Where writes go and persist; empty: into memory, dropped with the pod.
    std::string store;
    std::uint64_t bytes = 0;  ///< limit of memory
    std::string scratch;      ///< a directory of the pod in which the view is assembled

    friend bool operator==(const PrivateFiles&, const PrivateFiles&) = default;
};

}  // namespace muster::pod_init
