#include "operator/internal/integrations/integrations.h"

#include "base/check.h"
#include "jobs/gang_scheduler.h"
#include "operator/internal/integrations/autoscaler.h"
#include "operator/internal/integrations/gang.h"
#include "operator/internal/integrations/scheduler_plugins.h"
#include "operator/internal/integrations/volcano.h"
#include "operator/internal/integrations/yunikorn.h"

namespace muster::operators {
namespace {

using jobs::GangScheduler;

std::optional<jobs::Elasticity> elasticity_of(const jobs::Job& job) {
    if (!job.kind->elasticity) return std::nullopt;
    return job.kind->elasticity(job);
}

std::optional<IntegrationType> pod_group_of(GangScheduler scheduler) {
    if (scheduler == GangScheduler::kVolcano) return IntegrationType::kVolcano;
    if (scheduler == GangScheduler::kSchedulerPlugins) return IntegrationType::kSchedulerPlugins;
    return std::nullopt;
}

}  // namespace

const kube::ResourceType& resource_of(IntegrationType type) {
    switch (type) {
        case IntegrationType::kVolcano:
            return volcano::kPodGroups;
        case IntegrationType::kSchedulerPlugins:
            return scheduler_plugins::kPodGroups;
        case IntegrationType::kAutoscaler:
            return autoscaler::kType;
    }
    CHECK(false, "an integration's type is one of the above");
    return autoscaler::kType;
}

bool is_pod_group(IntegrationType type) { return type != IntegrationType::kAutoscaler; }

IntegrationNeeds integration_needs(const jobs::Job& job) {
    IntegrationNeeds needs;
    const GangScheduler scheduler = jobs::gang_scheduler_of(job).scheduler;
    if (const std::optional<IntegrationType> group = pod_group_of(scheduler))
        needs.objects.push_back({*group, job.total_replicas() > 0});
    if (const std::optional<jobs::Elasticity> elastic = elasticity_of(job))
        needs.objects.push_back({IntegrationType::kAutoscaler, elastic->metrics.has_value()});
    needs.reads_priorities = scheduler != GangScheduler::kNone && depends_on_priorities(job);
    return needs;
}

jobs::OwnedObject integration_object(const jobs::Job& job, IntegrationType type,
                                     const Priorities& priorities) {
    switch (type) {
        case IntegrationType::kVolcano:
            return volcano::pod_group(job, priorities);
        case IntegrationType::kSchedulerPlugins:
            return scheduler_plugins::pod_group(job, priorities);
        case IntegrationType::kAutoscaler:
            break;
    }
    return autoscaler::autoscaler(job, elasticity_of(job).value_or(jobs::Elasticity{}));
}

void mark_for_scheduler(const jobs::Job& job, const jobs::ReplicaId& replica,
                        const Priorities& priorities, kube::Pod& pod) {
    const jobs::GangChoice gang = jobs::gang_scheduler_of(job);
    if (gang.scheduler == GangScheduler::kNone) return;
    if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = gang.name;
    if (gang.scheduler == GangScheduler::kVolcano) volcano::mark(job, replica, pod);
    if (gang.scheduler == GangScheduler::kSchedulerPlugins) scheduler_plugins::mark(job, pod);
    if (gang.scheduler == GangScheduler::kYunikorn) yunikorn::mark(job, replica, priorities, pod);
}

}  // namespace muster::operators
