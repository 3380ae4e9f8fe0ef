#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/internal/connect/server_access.h"

namespace muster::cli {

/// What an exec plugin gave us: a token, a certificate with its key, or both.
struct ExecCredential {
    std::string token;
    std::string certificate_pem;
    std::string key_pem;

    friend bool operator==(const ExecCredential&, const ExecCredential&) = default;
};

/// The ExecCredential that a plugin finds in KUBERNETES_EXEC_INFO. `ca_pem`: of the cluster, told
/// with the rest of it if the kubeconfig wants that.
std::string exec_info(const ServerAccess& access, const ExecPlugin& plugin, std::string_view ca_pem,
                      bool interactive);

/// What a plugin printed. Pure. The message of an error starts with the plugin's name.
Result<ExecCredential> parse_exec_credential(const ExecPlugin& plugin, std::string_view printed);

/// Runs the plugin to its end, with this process's terminal if it may ask. `environment`:
/// "NAME=VALUE", to which the plugin's own is added. Blocks.
Result<ExecCredential> run_exec_plugin(const ServerAccess& access, const ExecPlugin& plugin,
                                       std::string_view ca_pem,
                                       const std::vector<std::string>& environment);

}  // namespace muster::cli
