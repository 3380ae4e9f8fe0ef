#include <fmt/format.h>

#include "jobs/scale_plan.h"
#include "kube/objects/codec.h"

namespace muster::jobs {

std::string own_plan_name(std::string_view job_name) { return fmt::format("{}-plan", job_name); }

json::object own_plan_manifest(const Job& job) {
    kube::ObjectMeta metadata;
    metadata.name = own_plan_name(job.metadata.name);
    metadata.namespace_ = job.metadata.namespace_;
    metadata.labels = {{std::string(scale_labels::kType), std::string(scale_labels::kAuto)},
                       {std::string(scale_labels::kJobName), job.metadata.name}};
    metadata.owner_references.push_back(owner_reference(job));
    return {{"apiVersion", kScalePlans.api_version()},
            {"kind", kScalePlans.kind},
            {"metadata", kube::encode(metadata)},
            {"spec", {{"ownerJob", job.metadata.name}}}};
}

}  // namespace muster::jobs
