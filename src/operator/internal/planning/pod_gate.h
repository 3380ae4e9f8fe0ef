#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/internal/cache/integration_state.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// What keeps pods from being made.
struct PodGate {
    enum class Reason : std::uint8_t {
        kUnknown,  ///< something is still to be read; nothing to tell
        kQueued,   ///< the scheduler has not admitted the gang
        kMissing,  ///< the PodGroup can't be made here
    };
    Reason reason = Reason::kUnknown;
    std::string message = {};  ///< for people
};

/// Nothing where pods may be made as soon as the objects are as they should be.
std::optional<PodGate> pod_gate(const JobRecord& job, const IntegrationState& integrations);

}  // namespace muster::operators
