#include "kube/client_config/in_cluster_config.h"

#include <fmt/format.h>

#include <filesystem>

#include "kube/client_config/environment.h"
#include "kube/internal/client_config/small_file.h"

namespace muster::kube {

Result<std::optional<ClientConfig>> in_cluster_config(const std::vector<std::string>& environment,
                                                      const std::string& directory) {
    const std::string host = variable_of(environment, "KUBERNETES_SERVICE_HOST");
    const std::string port = variable_of(environment, "KUBERNETES_SERVICE_PORT");
    const std::filesystem::path place = directory;
    std::error_code failed;
    if (host.empty() || port.empty() || !std::filesystem::exists(place / "token", failed))
        return std::optional<ClientConfig>();

    const bool v6 = host.find(':') != host.npos;
    Result<ServerUrl> url = parse_server_url(
        fmt::format("https://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port), true);
    if (!url)
        return Error(url.error())
            .prefix("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of this pod");
    // client-go also treats an empty file as a missing one.
    const Result<std::string> ns = read_word(place / "namespace");
    if (!ns && ns.error().code() != Code::kInvalid) return ns.error();

    ClientConfig access;
    access.file = directory;
    access.context = "the pod's service account";
    if (ns) access.namespace_ = *ns;
    access.url = *std::move(url);
    access.ca.file = place / "ca.crt";
    access.token_file = place / "token";
    return std::optional(std::move(access));
}

}  // namespace muster::kube
