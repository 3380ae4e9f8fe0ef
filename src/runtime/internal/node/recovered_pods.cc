#include "runtime/internal/node/recovered_pods.h"

#include <fcntl.h>

#include <cerrno>

#include "base/log.h"
#include "runtime/internal/network/network_namespace.h"

namespace muster::runtime {

namespace fs = std::filesystem;

Result<RecoveredPods> recover_pods(const fs::path& state_dir) {
    RecoveredPods found;
    const fs::path pods = state_dir / kPodsName;
    std::error_code error;
    if (!fs::exists(pods, error)) return found;
    for (const fs::directory_entry& entry : fs::directory_iterator(pods, error)) {
        const auto name = pod_of_directory(entry.path().filename().native());
        auto pod = name ? recover_pod(entry.path() / kSocketName)
                        : Result<RecoveredPod>(Error(Code::kUnavailable, "no pod"));
        if (pod) {
            found.emplace(name->uid, NamedRecoveredPod{*name, entry.path(), *std::move(pod)});
            continue;
        }
        if (pod.error().code() != Code::kUnavailable) {
            Error failed = std::move(pod.error());
            return failed.prefix("finding the pods that still run");
        }
        remove_pod_directory(entry.path());
    }
    if (error) return system_error("reading " + pods.string(), error.value());
    return found;
}

void remove_pod_directory(const fs::path& directory) {
    std::error_code error;
    fs::remove_all(directory, error);
    if (error)
        log::warning("what a pod left can't be removed",
                     {{"directory", directory.string()}, {"error", error.message()}});
}

Result<UniqueFd> network_of(const RecoveredPods& pods) {
    for (const auto& [uid, found] : pods) {
        if (!found.pod.network) continue;
        UniqueFd network(::fcntl(found.pod.network.get(), F_DUPFD_CLOEXEC, 0));
        if (!network) return system_error("duplicating a descriptor", errno);
        return network;
    }
    return UniqueFd();
}

Result<void> end_unreachable(RecoveredPods& pods, int network) {
    for (auto it = pods.begin(); it != pods.end();) {
        RecoveredPod& pod = it->second.pod;
        const bool reachable = network < 0
                                   ? !pod.network
                                   : pod.network && is_same_namespace(pod.network.get(), network);
        if (reachable) {
            ++it;
            continue;
        }
        log::warning("a pod is ended, as it was started on another kind of network",
                     {{"namespace", it->second.name.namespace_}, {"pod", it->second.name.name}});
        TRY_VOID(end_pod(std::move(pod)));
        it = pods.erase(it);
    }
    return {};
}

}  // namespace muster::runtime
