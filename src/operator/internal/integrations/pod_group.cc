#include "operator/internal/integrations/pod_group.h"

#include "jobs/gang.h"

namespace muster::operators {

jobs::OwnedObject pod_group(const jobs::Job& job, kube::ResourceType type,
                            const Priorities& priorities) {
    json::object spec{{"minMember", jobs::gang_size(job)}};
    if (const kube::Amounts resources = min_resources(job, priorities); !resources.empty())
        spec["minResources"] = to_json(resources);
    jobs::OwnedObject group{.type = std::move(type),
                            .name = job.metadata.name,
                            .labels = {},
                            .content = {{"spec", std::move(spec)}},
                            .kept = {"spec.minMember", "spec.minResources"},
                            .annotations = job.metadata.annotations};
    // The job's manifest, which would be mistaken for the PodGroup's.
    group.annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
    return group;
}

}  // namespace muster::operators
