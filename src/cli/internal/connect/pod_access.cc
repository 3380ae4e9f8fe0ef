#include "cli/internal/connect/pod_access.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/read_file.h"

namespace muster::cli {

Result<std::optional<ServerAccess>> pod_access(const Caller& caller, const std::string& directory) {
    const std::string host = caller.variable("KUBERNETES_SERVICE_HOST");
    const std::string port = caller.variable("KUBERNETES_SERVICE_PORT");
    const std::filesystem::path place = directory;
    std::error_code failed;
    if (host.empty() || port.empty() || !std::filesystem::exists(place / "token", failed))
        return std::optional<ServerAccess>();

    const bool v6 = host.find(':') != host.npos;
    Result<ServerUrl> url = parse_server_url(
        fmt::format("https://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port), true);
    if (!url)
        return Error(url.error())
            .prefix("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of this pod");
    TRY(std::string ns, read_file(place / "namespace"));
    while (!ns.empty() && (ns.back() == '\n' || ns.back() == '\r')) ns.pop_back();

    ServerAccess access;
    access.file = directory;
    access.context = "the pod's service account";
    if (!ns.empty()) access.namespace_ = std::move(ns);
    access.url = *std::move(url);
    access.ca.file = place / "ca.crt";
    access.token_file = place / "token";
    return std::optional(std::move(access));
}

}  // namespace muster::cli
