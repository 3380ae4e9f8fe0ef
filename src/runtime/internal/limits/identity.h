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

/// The user that runs muster, and the machine's account files.
struct Caller {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::vector<std::uint32_t> groups;
    /// Whether it may become another user: it is root, and not in a user namespace of ours.
    bool may_change() const { return uid == 0; }
    std::string passwd;  ///< the content of /etc/passwd
    std::string group;   ///< the content of /etc/group
};
Caller caller_of_this_process();

/// A sysctl for the pod's init to set in the pod's own namespaces: name ("net.core.somaxconn") and
/// value.
using Sysctl = std::pair<std::string, std::string>;

/// The effect of the pod's securityContext. Fields are named as in "spec.securityContext.fsGroup",
/// followed by the reason.
struct PodSecurity {
    /// The group that owns the pod's own volumes.
    std::optional<std::uint32_t> fs_group;
    std::vector<Sysctl> sysctls;
    std::vector<std::string> not_honoured;
};
/// An error: a sysctl that no pod may set (kubelet: SysctlForbidden).
Result<PodSecurity> plan_pod_security(const kube::Pod& pod, const Caller& caller);

/// The same for one container, whose fields take precedence over the pod's.
struct ContainerSecurity {
    pod_init::Identity identity;
    bool privileged = false;
    bool unmasked_proc = false;  ///< procMount: Unmasked
    bool read_only_root = false;
    /// The account that it runs as, if that is not the caller.
    std::optional<Account> account;
    std::vector<std::string> not_honoured;  ///< relative to the container: "securityContext.x"
};
/// An error is the kubelet's CreateContainerConfigError message.
Result<ContainerSecurity> plan_container_security(const kube::Pod& pod,
                                                  const kube::Container& container,
                                                  const Caller& caller);

/// The environment of a container that runs as a user other than muster's: HOME is that user's (/
/// if the machine does not know it), and USER and LOGNAME are removed, as no container runtime sets
/// them.
std::vector<std::string> environment_of(const ContainerSecurity& security, const Caller& caller,
                                        std::vector<std::string> environment);

}  // namespace muster::runtime
