#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/internal/operator/bind_address.h"
#include "kube/client/lease_election.h"
#include "kube/transport/aimd_window.h"

namespace muster::cli {

/// The settings of `muster operator` from its flags and its configuration file.
struct OperatorOptions {
    std::string config;              ///< a file with flags of lower precedence; may be empty
    std::vector<std::string> words;  ///< the flags as written, for reading that file
    std::string kubeconfig;          ///< empty: the default places; in a pod its service account
    std::string context;
    std::string namespace_;          ///< empty: all, or $KUBEFLOW_NAMESPACE
    std::vector<std::string> kinds;  ///< "PyTorchJob"; empty: all
    std::string gang_scheduler_name;
    int controller_threads = 64;  ///< jobs reconciled at a time
    kube::RequestLimits limits;   ///< none unless set by the user
    bool leader_elect = false;
    std::string lease_name = "muster-operator.kubeflow.org";
    std::string lease_namespace;  ///< empty: the pod's own
    kube::ElectionTiming election;
    BindAddress metrics{.address = {}, .port = 8080};
    BindAddress health{.address = {}, .port = 8081};
    std::string cluster_domain;
    std::string in_pods_image;   ///< empty: $MUSTER_IMAGE
    bool image_volumes = false;  ///< the cluster has them, and can run programs from them
    /// Jobs with agents get a token, in a Secret each; otherwise no Secret is looked at for them.
    bool agent_tokens = false;
    log::Format log_format = log::Format::kJson;
    log::Level log_level = log::Level::kInfo;
    /// Flags of its Go counterparts that were given but have no effect here, and why.
    std::vector<std::string> ineffective;
};

}  // namespace muster::cli
