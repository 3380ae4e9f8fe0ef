#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// A new terminal of the pod (its /dev/pts), or of the machine without namespaces.
struct Terminal {
    UniqueFd program;  ///< the program's end
    UniqueFd outside;  ///< the end for a person
};

/// Plain system calls. `user`: the owner of the program's end; unset: the caller.
Result<Terminal> open_terminal(std::optional<std::uint32_t> user);

}  // namespace muster::pod_init
