#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/client_config/client_config.h"

namespace muster::kube {

/// What an exec plugin gave us: a token, a certificate with its key, or both.
struct ExecCredential {
    std::string token;
    std::string certificate_pem;
    std::string key_pem;
    std::optional<WallTime> ends = {};

    friend bool operator==(const ExecCredential&, const ExecCredential&) = default;
};

/// The ExecCredential that a plugin finds in KUBERNETES_EXEC_INFO. `ca_pem`: of the cluster, told
/// with the rest of it if the kubeconfig wants that.
std::string exec_info(const ClientConfig& access, const ExecPlugin& plugin, std::string_view ca_pem,
                      bool interactive);

/// What a plugin printed. Pure. The message of an error starts with the plugin's name.
Result<ExecCredential> parse_exec_credential(const ExecPlugin& plugin, std::string_view printed);

/// When a credential that was given at `got` and ends at `ends` is asked for anew: while there is
/// time for a few tries, and never at once, whatever the plugin says. Pure.
WallTime renewal_time(WallTime got, WallTime ends);

}  // namespace muster::kube
