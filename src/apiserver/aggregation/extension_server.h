#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/objects/service_name.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json.h"

namespace muster::apiserver {

extern const kube::ResourceType kApiServices;

/// A server beside this one that serves a version of a group, as its APIService says.
struct ExtensionServer {
    std::string name;  ///< of the APIService
    std::string group;
    std::string version;
    ServiceName service;
    std::uint16_t port = 443;
    std::string ca_pem;  ///< whom to trust; empty: as the machine does
    bool insecure = false;
    std::int64_t group_priority = 0;
    std::int64_t version_priority = 0;
    bool available = false;  ///< the condition of the APIService is true

    std::string api_version() const { return group + "/" + version; }
    std::string path() const { return "/apis/" + api_version(); }

    friend bool operator==(const ExtensionServer&, const ExtensionServer&) = default;
};

/// Nullopt for an APIService of what this server serves itself, among which are the core group and
/// the APIServices.
std::optional<ExtensionServer> extension_server_of(const json::object& api_service);

}  // namespace muster::apiserver
