#include <algorithm>

#include "jobs/kind.h"

namespace muster::jobs {
namespace {

void add_port(const JobKind& kind, const ReplicaType* type, kube::PodSpec& spec) {
    const kube::Container* found = default_container(kind, spec);
    if (found == nullptr || kind.port_name.empty()) return;
    kube::Container& container =
        spec.containers[static_cast<std::size_t>(found - spec.containers.data())];
    if (std::ranges::find(container.ports, kind.port_name, &kube::ContainerPort::name) ==
        container.ports.end())
        container.ports.push_back(
            {.name = kind.port_name,
             .container_port = type == nullptr || type->port == 0 ? kind.port : type->port,
             .protocol = {},
             .rest = {}});
}

}  // namespace

void apply_defaults(Job& job) {
    const JobKind& kind = *job.kind;
    if (job.run_policy.clean_pod_policy.empty()) job.run_policy.clean_pod_policy = "None";
    for (auto& [name, spec] : job.replicas) {
        const ReplicaType* type = kind.replica_type(name);
        if (!spec.replicas) spec.replicas = type == nullptr ? 1 : type->default_replicas;
        if (spec.restart_policy.empty()) spec.restart_policy = kind.default_policy(name);
        add_port(kind, type, spec.template_.spec);
    }
    if (kind.own_defaults) kind.own_defaults(job);
}

}  // namespace muster::jobs
