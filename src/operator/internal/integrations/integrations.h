#pragma once

#include "jobs/kind.h"
#include "operator/internal/integrations/desired_objects.h"
#include "operator/internal/integrations/gang_members.h"

namespace muster::operators {

const kube::ResourceType& resource_of(IntegrationType type);
/// Whether no pod is made without it.
bool is_pod_group(IntegrationType type);

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
