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

std::optional<PartnerType> pod_group_of(GangScheduler scheduler) {
    if (scheduler == GangScheduler::kVolcano) return PartnerType::kVolcano;
    if (scheduler == GangScheduler::kSchedulerPlugins) return PartnerType::kSchedulerPlugins;
    return std::nullopt;
}

}  // namespace

const kube::ResourceType& resource_of(PartnerType type) {
    switch (type) {
        case PartnerType::kVolcano:
            return volcano::kPodGroups;
        case PartnerType::kSchedulerPlugins:
            return scheduler_plugins::kPodGroups;
        case PartnerType::kAutoscaler:
            return autoscaler::kType;
    }
    CHECK(false, "a partner's type is one of the above");
    return autoscaler::kType;
}

bool is_pod_group(PartnerType type) { return type != PartnerType::kAutoscaler; }

PartnerWishes partner_wishes(const jobs::Job& job) {
    PartnerWishes wishes;
    const GangScheduler scheduler = jobs::gang_scheduler_of(job).scheduler;
    if (const std::optional<PartnerType> group = pod_group_of(scheduler))
        wishes.objects.push_back({*group, job.total_replicas() > 0});
    if (const std::optional<jobs::Elasticity> elastic = elasticity_of(job))
        wishes.objects.push_back({PartnerType::kAutoscaler, elastic->metrics.has_value()});
    wishes.reads_priorities = scheduler != GangScheduler::kNone && depends_on_priorities(job);
    return wishes;
}

jobs::OwnedObject partner_object(const jobs::Job& job, PartnerType type,
                                 const Priorities& priorities) {
    switch (type) {
        case PartnerType::kVolcano:
            return volcano::pod_group(job, priorities);
        case PartnerType::kSchedulerPlugins:
            return scheduler_plugins::pod_group(job, priorities);
        case PartnerType::kAutoscaler:
            break;
    }
    return autoscaler::autoscaler(job, elasticity_of(job).value_or(jobs::Elasticity{}));
}

void mark_for_partner(const jobs::Job& job, const jobs::ReplicaId& replica,
                      const Priorities& priorities, kube::Pod& pod) {
    const jobs::GangChoice gang = jobs::gang_scheduler_of(job);
    if (gang.scheduler == GangScheduler::kNone) return;
    if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = gang.name;
    if (gang.scheduler == GangScheduler::kVolcano) volcano::mark(job, replica, pod);
    if (gang.scheduler == GangScheduler::kSchedulerPlugins) scheduler_plugins::mark(job, pod);
    if (gang.scheduler == GangScheduler::kYunikorn) yunikorn::mark(job, replica, priorities, pod);
}

}  // namespace muster::operators
