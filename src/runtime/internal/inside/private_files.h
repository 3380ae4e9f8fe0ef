#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

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

/// Makes that view in the calling process's mount namespace, whose mounts are private. An overlay
/// for each file system that is mounted; where an ordinary user's kernel refuses that because of
/// what is mounted below, one for each directory beside it, and files in between are read-only.
/// (An ordinary user can change nothing in a directory of somebody else: EOVERFLOW.)
/// After it the root is another one. Plain system calls.
Result<void> set_up_private_files(const PrivateFiles& files);

}  // namespace muster::runtime
