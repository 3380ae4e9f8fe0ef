#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/logs/attempts.h"
#include "cli/internal/logs/log_sources.h"
#include "control_plane/daemon/caller.h"
#include "kube/client_config/client_config.h"
#include "runtime/retained_logs.h"

namespace muster::cli {

/// Where the `muster up` that we talk to keeps logs, if it runs on this machine for this user: its
/// state directory is that of the kubeconfig in use, or ~/.muster.
std::optional<std::filesystem::path> retained_logs_dir(const kube::ClientConfig& access,
                                                       const control_plane::Caller& caller);

/// A job, by its name and uid, or a pod by its name.
struct KeptSubject {
    std::string name;
    bool pod = false;
    std::string uid = {};  ///< of a job that exists; empty: it is gone
};

/// Those of `kept` whose logs belong to the subject, except the pods in `present`. Of several pods
/// with the same name, the newest, which may be present. For a job that is gone: the last one of
/// that name. Pure.
std::vector<runtime::RetainedPod> choose_kept(std::vector<runtime::RetainedPod> kept,
                                              const KeptSubject& subject,
                                              const std::vector<LogPod>& present);

/// The pods of `kept` that were the same replica before `latest`, oldest first: those with its name
/// and its controller. Pure.
std::vector<runtime::RetainedPod> earlier_pods(const std::vector<runtime::RetainedPod>& kept,
                                               const LogPod& latest);

/// How often the container was started in it.
PodStarts starts_of(const runtime::RetainedPod& kept, const std::string& container);

/// As if it still existed and had ended. Reads how many instances left logs.
LogPod log_pod(const runtime::RetainedPod& kept);

}  // namespace muster::cli
