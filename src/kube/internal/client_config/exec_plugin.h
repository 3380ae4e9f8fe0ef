#pragma once

#include <string>
#include <vector>

#include "kube/client_config/exec_credential.h"
#include "kube/internal/client_config/child_process.h"

namespace muster::kube {

/// Everything that a run of a plugin needs, as copies: a run may outlast its caller.
struct PluginCall {
    ExecPlugin plugin;
    std::string user;                      ///< of the kubeconfig, for messages
    std::string info;                      ///< exec_info()
    std::vector<std::string> environment;  ///< "NAME=VALUE", to which the plugin's own is added
    ChildProcess::Ties ties = ChildProcess::Ties::kNone;
};

/// Runs the plugin to completion. Cancelling it kills the plugin and everything it started.
Task<Result<ExecCredential>> run_exec_plugin(PluginCall call);

/// The same for a program whose loop is not running yet. Blocks as long as the plugin likes.
Result<ExecCredential> run_exec_plugin_now(PluginCall call);

}  // namespace muster::kube
