#include "operator/internal/integrations/gang.h"

#include "jobs/gang.h"
#include "kube/objects/pod_contract.h"

namespace muster::operators {

void announce_gang(const jobs::Job& job, kube::Pod& pod) {
    const std::int32_t size = jobs::gang_size(job);
    if (size > 1)
        pod.metadata.annotations[std::string(kube::kGangSizeAnnotation)] = std::to_string(size);
    else
        pod.metadata.annotations.erase(std::string(kube::kGangSizeAnnotation));
}

}  // namespace muster::operators
