#pragma once

#include "jobs/kind.h"
#include "operator/internal/integrations/desired_objects.h"
#include "operator/internal/integrations/gang_members.h"

namespace muster::operators {

const kube::ResourceType& resource_of(IntegrationType type);
/// Whether no pod is made without such an object.
bool is_pod_group(IntegrationType type);

/// For a job with defaults that is neither finished nor suspended.
IntegrationNeeds integration_needs(const jobs::Job& job);

/// The object that a job needs.
jobs::OwnedObject integration_object(const jobs::Job& job, IntegrationType type,
                                     const Priorities& priorities);

/// Assigns a pod of the job to the gang scheduler, if there is one; a schedulerName in the template
/// is kept.
void mark_for_scheduler(const jobs::Job& job, const jobs::ReplicaId& replica,
                        const Priorities& priorities, kube::Pod& pod);

}  // namespace muster::operators
