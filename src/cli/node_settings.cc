#include "cli/node_settings.h"

#include <fmt/format.h>

#include "kube/name_syntax.h"

namespace muster::cli {

Result<std::string> cluster_domain(const Caller& caller) {
    std::string domain = caller.variable(std::string(kClusterDomainVariable));
    if (!domain.empty() && !kube::is_dns1123_subdomain(domain))
        return Error(Code::kInvalid,
                     fmt::format("\"{}\" is no domain: lower case letters, digits, '-' and '.', as "
                                 "in cluster.local",
                                 domain));
    return domain;
}

runtime::NodeOptions node_settings(const Caller& caller, const Machine& machine, Sandbox sandbox,
                                   std::filesystem::path state_dir, std::string cluster_domain) {
    runtime::NodeOptions node;
    node.sandbox = sandbox == Sandbox::kNone         ? runtime::SandboxMode::kNone
                   : sandbox == Sandbox::kNamespaces ? runtime::SandboxMode::kNamespaces
                                                     : runtime::SandboxMode::kAuto;
    node.state_dir = std::move(state_dir);
    node.working_dir = caller.working_dir;
    node.environment = caller.environment;
    node.cluster_domain = std::move(cluster_domain);
    node.cpus = machine.cpus();
    node.memory_bytes = machine.memory_bytes();
    node.devices = machine.devices();
    return node;
}

}  // namespace muster::cli
