#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pod_init/capabilities.h"

namespace muster::pod_init {

/// As whom a container's program runs: what is changed between fork and exec. Unset: it stays.
struct Identity {
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    std::optional<std::vector<std::uint32_t>> groups;  ///< besides gid
    /// What it may ever have; a user other than root has none at first, as on a cluster.
    std::optional<Capabilities> capabilities;
    bool no_new_privileges = false;

    friend bool operator==(const Identity&, const Identity&) = default;
};

}  // namespace muster::pod_init
