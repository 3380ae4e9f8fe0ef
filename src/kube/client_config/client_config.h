#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/client_config/merged_kubeconfig.h"
#include "kube/client_config/server_url.h"

namespace muster::kube {

/// Text that a kubeconfig has itself, or the absolute path of a file that has it.
struct TextOrFile {
    std::string text;
    std::string file;

    bool empty() const { return text.empty() && file.empty(); }
    friend bool operator==(const TextOrFile&, const TextOrFile&) = default;
};

/// A program that knows who the user is.
struct ExecPlugin {
    std::string command;  ///< absolute, or a name that is looked for in PATH
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string api_version;
    std::string install_hint;
    bool provide_cluster_info = false;
    bool may_ask = true;  ///< it gets the terminal

    friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

/// As whom requests are made, if the user may: Impersonate-* fields.
struct ActAs {
    std::string user;  ///< empty: as the user itself
    std::string uid;
    std::vector<std::string> groups;
    std::vector<std::pair<std::string, std::string>> extra;  ///< a key as often as it has values

    friend bool operator==(const ActAs&, const ActAs&) = default;
};

/// How to reach a server and who to be there, as one context of a kubeconfig says.
struct ClientConfig {
    std::string file;  ///< that has the context
    std::string context;
    std::string user;  ///< the name of its entry; may be empty
    std::string namespace_ = "default";
    ServerUrl url;
    std::string tls_server_name;  ///< that the certificate must have; empty: the URL's host
    bool insecure = false;        ///< the certificate is not looked at
    std::string proxy_url;        ///< as parse_proxy() takes it; empty: what the environment says
    TextOrFile ca;                ///< empty: the CAs that this machine trusts
    TextOrFile certificate;
    TextOrFile key;
    std::string token;
    std::string token_file;  ///< goes before `token`
    std::string username;    ///< with its password, where servers still take one
    std::string password;
    std::optional<ExecPlugin> exec;
    ActAs act_as;

    /// The server must name this.
    const std::string& server_name() const {
        return tls_server_name.empty() ? url.host : tls_server_name;
    }
};

/// The context `wanted`, or the current one when it is empty. Pure: no file is read. Errors name
/// the file, the field and what to do; auth-provider, which other clients have dropped, is refused.
Result<ClientConfig> select_access(const MergedKubeconfig& config, const std::string& wanted);

}  // namespace muster::kube
