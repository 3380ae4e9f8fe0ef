#include "control_plane/node_settings.h"

namespace muster::control_plane {

runtime::NodeOptions node_settings(const Caller& caller, const Machine& machine,
                                   runtime::SandboxMode sandbox, std::filesystem::path state_dir,
                                   std::string cluster_domain) {
    runtime::NodeOptions node;
    node.sandbox = sandbox;
    node.state_dir = std::move(state_dir);
    node.working_dir = caller.working_dir;
    node.environment = caller.environment;
    node.cluster_domain = std::move(cluster_domain);
    node.cpus = machine.cpus();
    node.memory_bytes = machine.memory_bytes();
    node.devices = machine.devices();
    return node;
}

}  // namespace muster::control_plane
