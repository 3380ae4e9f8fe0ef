#pragma once

#include <cstdint>
#include <vector>

namespace muster::operators {

/// Objects by which other programs of the cluster look after a job, one of each type and job. Each
/// has the job's name.
enum class IntegrationType : std::uint8_t { kVolcano, kSchedulerPlugins, kAutoscaler };

struct DesiredObject {
    IntegrationType type = IntegrationType::kVolcano;
    bool wanted = false;  ///< false: one that is there is of an earlier state of the job

    friend bool operator==(const DesiredObject&, const DesiredObject&) = default;
};

/// What a job needs of other programs: a fact of the job, read without its templates.
struct IntegrationNeeds {
    std::vector<DesiredObject> objects;  ///< a pod group first
    /// The values of PriorityClasses are read before a pod is made.
    bool reads_priorities = false;

    friend bool operator==(const IntegrationNeeds&, const IntegrationNeeds&) = default;
};

}  // namespace muster::operators
