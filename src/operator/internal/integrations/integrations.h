#pragma once

#include <cstdint>
#include <vector>

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

namespace muster::operators {

/// Objects by which other programs of the cluster look after a job, one of each type and job. Each
/// has the job's name.
enum class IntegrationType : std::uint8_t { kVolcano, kSchedulerPlugins, kAutoscaler };

const kube::ResourceType& resource_of(IntegrationType type);
/// Whether no pod is made without it.
bool is_pod_group(IntegrationType type);

struct DesiredObject {
    IntegrationType type = IntegrationType::kVolcano;
    bool wanted = false;  ///< false: one that is there is of an earlier state of the job

    friend bool operator==(const DesiredObject&, const DesiredObject&) = default;
};

struct IntegrationNeeds {
    std::vector<DesiredObject> objects;  ///< a pod group first
    /// The values of PriorityClasses are read before a pod is made.
    bool reads_priorities = false;

    friend bool operator==(const IntegrationNeeds&, const IntegrationNeeds&) = default;
};

/// Of a defaulted job that is neither finished nor suspended.
IntegrationNeeds integration_needs(const jobs::Job& job);

/// The object that a job wants.
jobs::OwnedObject integration_object(const jobs::Job& job, IntegrationType type,
                                     const Priorities& priorities);

/// Hands a pod of the job to the gang scheduler, if it has one; a schedulerName that the template
/// gives stays.
void mark_for_scheduler(const jobs::Job& job, const jobs::ReplicaId& replica,
                        const Priorities& priorities, kube::Pod& pod);

}  // namespace muster::operators
