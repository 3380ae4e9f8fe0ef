#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/aggregation/extension_servers.h"
#include "apiserver/resources/registry.h"
#include "kube/objects/served_version.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

// The documents from which clients learn what is served: here, and by extension servers, whose
// versions come before ours of the same name. Pure functions; they change when
// Registry::generation() or ExtensionServers::generation() does.

/// The version that clients take the server for.
inline constexpr std::string_view kServerMajor = "1";
inline constexpr std::string_view kServerMinor = "33";
inline constexpr std::string_view kServerVersion = kube::kServedVersion;

/// The media type of answers with the aggregated documents; clients recognise them by it.
inline constexpr std::string_view kAggregatedDiscoveryType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// /api and /apis for clients that accept kAggregatedDiscoveryType.
json::object aggregated_core(const apiserver::Registry& registry);
json::object aggregated_groups(const apiserver::Registry& registry,
                               const apiserver::ExtensionServers& extensions);

/// /api for all others; `server_address` is "host:port".
json::object api_versions(std::string_view server_address);
/// /apis.
json::object api_group_list(const apiserver::Registry& registry,
                            const apiserver::ExtensionServers& extensions);
/// /apis/GROUP; nothing if there is no such group.
std::optional<json::object> api_group(const apiserver::Registry& registry,
                                      const apiserver::ExtensionServers& extensions,
                                      std::string_view group);
/// /api/v1 and /apis/GROUP/VERSION; nothing if it is not served here.
std::optional<json::object> api_resource_list(const apiserver::Registry& registry,
                                              std::string_view api_version);

/// The document of `/`: the paths that can be requested.
json::object root_paths(const apiserver::Registry& registry,
                        const apiserver::ExtensionServers& extensions);
/// /version.
json::object version_document();

/// The verbs of a resource, as in discovery and access rules.
std::vector<std::string_view> verbs_of(const apiserver::ResourceDef& def);

/// Whether clients prefer version `a` over `b`: v2 over v1 over v1beta2 over v1alpha1 over all
/// names of other forms.
bool is_preferred_version(std::string_view a, std::string_view b);

}  // namespace muster::apiserver_http
