#include "cli/internal/objects/discover.h"

#include "kube/objects/api_status.h"

namespace muster::cli {

Task<Result<kube::ObjectPtr>> fetch(kube::Transport& transport, std::string path,
                                    std::vector<std::pair<std::string, std::string>> query) {
    kube::Request request;
    request.path = std::move(path);
    request.query = std::move(query);
    CO_TRY(kube::Response response, co_await transport.call(std::move(request)));
    if (response.status >= 300) co_return kube::error_from_status(response.status, *response.body);
    co_return std::move(response.body);
}

Task<Result<ResourceCatalog>> discover(Connection& connection) {
    std::vector<ApiResource> resources;
    CO_TRY(const kube::ObjectPtr core, co_await fetch(connection.discovery(), "/api", {}));
    CO_TRY(const kube::ObjectPtr groups, co_await fetch(connection.discovery(), "/apis", {}));
    if (add_aggregated(*core, resources) && add_aggregated(*groups, resources))
        co_return ResourceCatalog(std::move(resources));
    resources.clear();
    std::vector<std::string> paths{"/api/v1"};
    for (const std::string& version : group_versions(*groups)) paths.push_back("/apis/" + version);
    for (const std::string& path : paths) {
        auto list = co_await fetch(connection.objects(), path, {});
        // A group may be served by an extension that is not available.
        if (list) add_resource_list(**list, resources);
    }
    co_return ResourceCatalog(std::move(resources));
}

}  // namespace muster::cli
