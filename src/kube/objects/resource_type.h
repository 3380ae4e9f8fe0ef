#pragma once

#include <string>
#include <string_view>

namespace muster::kube {

/// Names one served resource: its place in the API and the name of its objects.
struct ResourceType {
    std::string group;  ///< empty for the core group
    std::string version;
    std::string plural;
    std::string kind;
    bool namespaced = true;

    std::string api_version() const { return group.empty() ? version : group + "/" + version; }
    /// "pods" or "pytorchjobs.kubeflow.org", for messages.
    std::string qualified() const { return group.empty() ? plural : plural + "." + group; }
    /// The URL path of the collection (name empty) or of one object, with an optional subresource.
    /// A namespaced type with an empty namespace gives the collection over all namespaces.
    std::string path(std::string_view ns, std::string_view name = {},
                     std::string_view subresource = {}) const;

    friend bool operator==(const ResourceType&, const ResourceType&) = default;
};

namespace types {
extern const ResourceType kPods;
extern const ResourceType kServices;
extern const ResourceType kConfigMaps;
extern const ResourceType kSecrets;
extern const ResourceType kEvents;
extern const ResourceType kNamespaces;
extern const ResourceType kNodes;
extern const ResourceType kServiceAccounts;
extern const ResourceType kLeases;
extern const ResourceType kBatchJobs;
extern const ResourceType kCustomResourceDefinitions;
}  // namespace types

}  // namespace muster::kube
