#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/internal/inside/capabilities.h"

namespace muster::runtime {

/// Who a container's program is: what is changed between fork and exec. Unset: it stays.
struct Identity {
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    std::optional<std::vector<std::uint32_t>> groups;  ///< besides gid
    /// What it may ever have; a user other than root has none at first, as on a cluster.
    std::optional<Capabilities> capabilities;
    bool no_new_privileges = false;

    friend bool operator==(const Identity&, const Identity&) = default;
};

/// Becomes that, for good: called by a process that is about to execute a program, also after a
/// vfork. Clears a parent-death signal, as any change of identity does. 0 or the error; `step` then
/// says what failed.
int take_identity(const Identity& identity, const char*& step);

}  // namespace muster::runtime
