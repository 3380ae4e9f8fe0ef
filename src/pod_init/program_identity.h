#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pod_init/capabilities.h"

namespace muster::pod_init {

/// The identity of a container's program, set between fork and exec. Unset fields stay unchanged.
struct Identity {
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    std::optional<std::vector<std::uint32_t>> groups;  ///< in addition to gid
    /// What it may ever have; a user other than root starts without any, as on a cluster.
    std::optional<Capabilities> capabilities;
    bool no_new_privileges = false;

    friend bool operator==(const Identity&, const Identity&) = default;
};

}  // namespace muster::pod_init
