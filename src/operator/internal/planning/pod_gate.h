#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/internal/cache/owned_objects.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/integrations/integrations.h"

namespace muster::operators {

enum class Knowledge : std::uint8_t {
    kNone,     ///< its first list is still on the way
    kCurrent,  ///< a list came, and what has changed since
    kRefused,  ///< the cluster does not have the type, or does not let us see it
};

/// What is known of one object that a job may have for another program.
struct IntegrationObject {
    DesiredObject desired;
    Knowledge knowledge = Knowledge::kNone;
    std::string problem = {};         ///< of kRefused, for people
    OwnedObjectPtr object = nullptr;  ///< null: there is none, or it is not the job's
};

/// In the order of the job's needs.
struct IntegrationState {
    std::vector<IntegrationObject> objects;
    bool priorities_known = true;
};

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
