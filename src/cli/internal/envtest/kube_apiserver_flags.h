#pragma once

#include <string>
#include <vector>

#include "apiserver/objects/service_range.h"
#include "apiserver_http/request_limits.h"
#include "base/result.h"
#include "cli/internal/envtest/go_flags.h"
#include "control_plane/listen_address.h"

namespace muster::cli {

/// What a command line of kube-apiserver asks for.
struct KubeApiserverOptions {
    control_plane::ListenAddress listen{.address = "0.0.0.0", .port = 6443};
    std::vector<control_plane::ListenAddress> etcd_servers;
    std::string cert_dir = "/var/run/kubernetes";
    std::string tls_cert_file;  ///< empty: the one in cert_dir
    std::string tls_key_file;
    std::string client_ca_file;             ///< empty: users have no certificates
    std::string token_file;                 ///< empty: none
    std::vector<std::string> issuers;       ///< of tokens; not empty
    std::vector<std::string> audiences;     ///< of tokens; empty: the issuers
    std::vector<std::string> account_keys;  ///< files; not empty
    std::string signing_key_file;           ///< not empty
    apiserver::ServiceRange services = {};
    bool anonymous = true;
    bool everything_allowed = false;
    bool pods_need_accounts = true;
    apiserver_http::RequestLimits limits = {};
    int verbosity = 0;
    /// What was asked for and has no effect here, each as a flag with its value.
    std::vector<std::string> without_effect = {};
};

/// Its flags, for parse_go_flags().
std::vector<GoFlag> kube_apiserver_flags();
/// kInvalid, with all that is wrong, in kube-apiserver's words where it would refuse it, too.
Result<KubeApiserverOptions> read_kube_apiserver_flags(const GivenFlags& given);
/// What --help prints.
std::string kube_apiserver_help();

/// "http://127.0.0.1:2379", "http://localhost:2379"; nullopt for anything else.
std::optional<control_plane::ListenAddress> parse_http_url(std::string_view url);

}  // namespace muster::cli
