#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::pod_init {

/// How a pod sees the machine's files copy-on-write.
struct PrivateFiles {
    enum class Scope : std::uint8_t {
        kNone,       ///< shared: what is written stays
        kDirectory,  ///< `directory` and what is below
        kMachine,    ///< everything but `kept`
    };
    Scope scope = Scope::kNone;
    std::string directory;
    std::vector<std::string> kept;  ///< these and what is below stay the machine's own
    /// Where what is written goes, and stays; empty: into memory, and it goes with the pod.
    std::string store;
    std::uint64_t bytes = 0;  ///< of memory, at most
    std::string scratch;      ///< a directory of the pod's, where the view is put together

    friend bool operator==(const PrivateFiles&, const PrivateFiles&) = default;
};

}  // namespace muster::pod_init
