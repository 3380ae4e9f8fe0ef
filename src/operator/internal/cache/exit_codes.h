#pragma once

#include <cstdint>
#include <optional>

namespace muster::operators {

/// Exit codes that a restart may cure: 128 and above, that is, death by a signal. A pod that ended
/// without its container's status (evicted, node lost) counts as one of these
/// (training-operator pkg/util/train, IsRetryableExitCode; pod.go's 0xbeef).
inline bool is_retryable(std::optional<std::int32_t> exit_code) {
    return !exit_code || *exit_code >= 128;
}

}  // namespace muster::operators
