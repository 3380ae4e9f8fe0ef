#include "control_plane/cluster_domain.h"

#include <fmt/format.h>

#include "kube/values/name_syntax.h"

namespace muster::control_plane {

Result<std::string> cluster_domain(const Caller& caller) {
    std::string domain = caller.variable(std::string(kClusterDomainVariable));
    if (!domain.empty() && !kube::is_dns1123_subdomain(domain))
        return Error(
            Code::kInvalid,
            fmt::format("\"{}\" is not a domain: lower case letters, digits, '-' and '.', as "
                        "in cluster.local",
                        domain));
    return domain;
}

}  // namespace muster::control_plane
