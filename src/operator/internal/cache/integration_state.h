#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/internal/cache/owned_objects.h"
#include "operator/internal/integrations/desired_objects.h"

namespace muster::operators {

enum class Knowledge : std::uint8_t {
    kNone,     ///< its first list has not arrived yet
    kCurrent,  ///< up to date: a list and the changes since
    kRefused,  ///< the cluster does not have the type, or does not let us read it
};

/// What is known of one object that integrates a job with another program.
struct IntegrationObject {
    DesiredObject desired;
    Knowledge knowledge = Knowledge::kNone;
    std::string problem = {};         ///< why it is kRefused, for people
    OwnedObjectPtr object = nullptr;  ///< null if there is none, or it is not the job's
};

/// In the order of the job's needs.
struct IntegrationState {
    std::vector<IntegrationObject> objects;
    bool priorities_known = true;
};

}  // namespace muster::operators
