#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/client_config/merged_kubeconfig.h"
#include "kube/client_config/server_url.h"

namespace muster::kube {

/// Text from the kubeconfig itself, or the absolute path of a file with the text.
struct TextOrFile {
    std::string text;
    std::string file;

    bool empty() const { return text.empty() && file.empty(); }
    friend bool operator==(const TextOrFile&, const TextOrFile&) = default;
};

/// A program that provides the user's credentials.
struct ExecPlugin {
    std::string command;  ///< absolute, or a name to be looked up in PATH
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string api_version;
    std::string install_hint;
    bool provide_cluster_info = false;
    bool may_ask = true;  ///< it may use the terminal

    friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

/// The user that requests are made as, if we may impersonate: Impersonate-* fields.
struct ActAs {
    std::string user;  ///< empty: as the user itself
    std::string uid;
    std::vector<std::string> groups;
    std::vector<std::pair<std::string, std::string>> extra;  ///< a key once for each of its values

    friend bool operator==(const ActAs&, const ActAs&) = default;
};

/// How to reach and authenticate to a server, according to one context of a kubeconfig.
struct ClientConfig {
    std::string file;  ///< that defines the context
    std::string context;
    std::string user;  ///< the name of its entry; may be empty
    std::string namespace_ = "default";
    ServerUrl url;
    std::string tls_server_name;  ///< that the certificate must have; empty: the URL's host
    bool insecure = false;        ///< the certificate is not checked
    std::string proxy_url;        ///< see parse_proxy(); empty: from the environment
    TextOrFile ca;                ///< empty: the CAs that this machine trusts
    TextOrFile certificate;
    TextOrFile key;
    std::string token;
    std::string token_file;  ///< takes precedence over `token`
    std::string username;    ///< with its password, for servers that still accept one
    std::string password;
    std::optional<ExecPlugin> exec;
    ActAs act_as;

    /// The name that the server's certificate must have.
    const std::string& server_name() const {
        return tls_server_name.empty() ? url.host : tls_server_name;
    }
};

/// The context `wanted`, or the current one if that is empty. Pure: no file is read. Errors name
/// the file, the field and what to do. auth-provider, which other clients have dropped, is refused.
Result<ClientConfig> select_access(const MergedKubeconfig& config, const std::string& wanted);

}  // namespace muster::kube
