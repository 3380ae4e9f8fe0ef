#include "cli/internal/install/installation.h"

#include "jobs/kind.h"
#include "jobs/scale_plan.h"

namespace muster::cli {

json::object pod_labels() { return {{"app.kubernetes.io/name", kOperatorName}}; }

json::object common_labels() {
    return {{"app.kubernetes.io/name", kOperatorName}, {"app.kubernetes.io/part-of", "muster"}};
}

json::value namespace_object(const Installation& installation) {
    return json::object{{"apiVersion", "v1"},
                        {"kind", "Namespace"},
                        {"metadata", {{"name", installation.namespace_}}}};
}

Part job_definitions() {
    std::vector<json::value> all = jobs::custom_resource_definitions(jobs::all_kinds());
    all.push_back(jobs::scale_plan_definition());
    return {.name = "crds", .objects = std::move(all)};
}

std::vector<Part> parts_of(const Installation& installation) {
    std::vector<Part> parts{operator_access(installation), user_roles(),
                            network_policy(installation)};
    if (installation.mpi) parts.push_back(mpi_access(installation));
    if (installation.agent_tokens) parts.push_back(token_access(installation));
    if (installation.admission_policies) parts.push_back(admission_policies(installation));
    parts.push_back(workload(installation));
    return parts;
}

}  // namespace muster::cli
