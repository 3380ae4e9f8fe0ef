#include "runtime/pod_refusals.h"

#include <fmt/format.h>

#include "runtime/internal/fields/pod_fields.h"
#include "runtime/internal/lifecycle/lifecycle.h"
#include "runtime/internal/limits/identity.h"

namespace muster::runtime {

namespace {

void add_containers(std::vector<PodRefusal>& found, const kube::Pod& pod,
                    const std::vector<kube::Container>& containers, std::string_view list,
                    const Caller& caller) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
        const std::string path = fmt::format("{}[{}]", list, i);
        if (const auto lifecycle = read_lifecycle(containers[i]); !lifecycle)
            found.push_back({path, lifecycle.error().message()});
        if (const auto security = plan_container_security(pod, containers[i], caller); !security)
            found.push_back({path + ".securityContext", security.error().message()});
    }
}

}  // namespace

std::vector<PodRefusal> refusals_of(const kube::Pod& pod) {
    std::vector<PodRefusal> found;
    const Caller caller = caller_of_this_process();
    if (const auto security = plan_pod_security(pod, caller); !security)
        found.push_back({"securityContext", security.error().message()});
    add_containers(found, pod, pod.spec.init_containers, "initContainers", caller);
    add_containers(found, pod, pod.spec.containers, "containers", caller);
    for (const std::string& field : refused_volumes(pod.spec))
        found.push_back({field, field.find("].projected.") == field.npos
                                    ? "a single machine has no volumes of this type; use emptyDir "
                                      "or hostPath instead"
                                    : "a single machine has no source of this type; leave it out"});
    return found;
}

}  // namespace muster::runtime
