#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/internal/cache/integration_state.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// Why pods may not be made yet.
struct PodGate {
    enum class Reason : std::uint8_t {
        kUnknown,  ///< something has not been read yet; nothing to report
        kQueued,   ///< the scheduler has not admitted the gang
        kMissing,  ///< the PodGroup can't be made here
    };
    Reason reason = Reason::kUnknown;
    std::string message = {};  ///< for people
};

/// Nothing if pods may be made as soon as the owned objects are as they should be.
std::optional<PodGate> pod_gate(const JobRecord& job, const IntegrationState& integrations);

}  // namespace muster::operators
