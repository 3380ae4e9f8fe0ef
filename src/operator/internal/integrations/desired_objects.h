#pragma once

#include <cstdint>
#include <vector>

namespace muster::operators {

/// Objects through which other programs of the cluster handle a job, at most one of each type for a
/// job. Each has the job's name.
enum class IntegrationType : std::uint8_t { kVolcano, kSchedulerPlugins, kAutoscaler };

struct DesiredObject {
    IntegrationType type = IntegrationType::kVolcano;
    bool wanted = false;  ///< false: an existing one belongs to an earlier state of the job

    friend bool operator==(const DesiredObject&, const DesiredObject&) = default;
};

/// What a job needs from other programs: a fact of the job, read without its templates.
struct IntegrationNeeds {
    std::vector<DesiredObject> objects;  ///< with a pod group first
    /// The values of PriorityClasses are needed before a pod is made.
    bool reads_priorities = false;

    friend bool operator==(const IntegrationNeeds&, const IntegrationNeeds&) = default;
};

}  // namespace muster::operators
