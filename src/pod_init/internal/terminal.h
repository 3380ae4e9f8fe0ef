#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// A new terminal of the pod's own (its /dev/pts), or of the machine's without namespaces.
struct Terminal {
    UniqueFd program;  ///< the program's end
    UniqueFd outside;  ///< what a person sits at
};

/// Plain system calls. `user`: whom the program's end shall belong to; unset: the caller.
Result<Terminal> open_terminal(std::optional<std::uint32_t> user);

}  // namespace muster::pod_init
