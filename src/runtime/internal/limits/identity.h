#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "pod_init/program_identity.h"
#include "runtime/internal/limits/accounts.h"

namespace muster::runtime {

/// The user that runs muster, and what the machine says about users.
struct Caller {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::vector<std::uint32_t> groups;
    /// May become another user: is root, in no user namespace of ours.
    bool may_change() const { return uid == 0; }
    std::string passwd;  ///< the content of /etc/passwd
    std::string group;   ///< the content of /etc/group
};
Caller caller_of_this_process();

/// A sysctl that the pod's init sets, in the pod's own namespaces: name ("net.core.somaxconn"),
/// value.
using Sysctl = std::pair<std::string, std::string>;

/// What the pod's securityContext comes to. Fields are named as in "spec.securityContext.fsGroup",
/// with the reason behind.
struct PodSecurity {
    /// The group that the pod's own volumes belong to.
    std::optional<std::uint32_t> fs_group;
    std::vector<Sysctl> sysctls;
    std::vector<std::string> not_honoured;
};
/// An error: a sysctl that no pod may set (kubelet: SysctlForbidden).
Result<PodSecurity> plan_pod_security(const kube::Pod& pod, const Caller& caller);

/// The same for one container, whose fields win over the pod's.
struct ContainerSecurity {
    pod_init::Identity identity;
    bool privileged = false;
    bool unmasked_proc = false;  ///< procMount: Unmasked
    bool read_only_root = false;
    /// Of the user that it runs as, if that is not the caller.
    std::optional<Account> account;
    std::vector<std::string> not_honoured;  ///< relative to the container: "securityContext.x"
};
/// An error is the kubelet's CreateContainerConfigError message.
Result<ContainerSecurity> plan_container_security(const kube::Pod& pod,
                                                  const kube::Container& container,
                                                  const Caller& caller);

/// The environment of a container that runs as another user than muster: HOME is that user's (/ if
/// the machine does not know it), and USER and LOGNAME go, as no container runtime sets them.
std::vector<std::string> environment_of(const ContainerSecurity& security, const Caller& caller,
                                        std::vector<std::string> environment);

}  // namespace muster::runtime
