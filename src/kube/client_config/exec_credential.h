#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/client_config/client_config.h"

namespace muster::kube {

/// The result of an exec plugin: a token, a certificate with its key, or both.
struct ExecCredential {
    std::string token;
    std::string certificate_pem;
    std::string key_pem;
    std::optional<WallTime> ends = {};

    friend bool operator==(const ExecCredential&, const ExecCredential&) = default;
};

/// The ExecCredential for the plugin, in KUBERNETES_EXEC_INFO. `ca_pem` is the cluster's; it is
/// included with the other cluster data if the kubeconfig asks for that.
std::string exec_info(const ClientConfig& access, const ExecPlugin& plugin, std::string_view ca_pem,
                      bool interactive);

/// Parses the output of a plugin. Pure. The message of an error starts with the plugin's name.
Result<ExecCredential> parse_exec_credential(const ExecPlugin& plugin, std::string_view printed);

/// When to renew a credential that was obtained at `got` and expires at `ends`: early enough for a
/// few tries, and never immediately, whatever the plugin says. Pure.
WallTime renewal_time(WallTime got, WallTime ends);

}  // namespace muster::kube
