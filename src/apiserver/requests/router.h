#pragma once

#include <string>
#include <string_view>

#include "apiserver/requests/status_error.h"
#include "apiserver/resources/registry.h"

namespace muster::apiserver {

/// The target of a URL.
struct Target {
    DefPtr def;
    std::string namespace_;   ///< empty: cluster-scoped, or all namespaces
    std::string name;         ///< empty: the collection
    std::string subresource;  ///< empty: the object itself

    const kube::ResourceType& type() const { return def->type; }
    bool is_collection() const { return name.empty(); }
};

/// Whether a subresource of pods is a connection to the pod rather than a request with an answer.
bool is_connection(std::string_view subresource);

/// `/api/v1/...` and `/apis/GROUP/VERSION/...`, segments already percent-decoded.
StatusResult<Target> route(const Registry& registry, std::string_view path);

}  // namespace muster::apiserver
