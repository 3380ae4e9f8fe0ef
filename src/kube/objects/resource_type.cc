#include "kube/objects/resource_type.h"

namespace muster::kube {

std::string ResourceType::path(std::string_view ns, std::string_view name,
                               std::string_view subresource) const {
    std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
    if (namespaced && !ns.empty()) {
        path += "/namespaces/";
        path += ns;
    }
    path += '/';
    path += plural;
    if (!name.empty()) {
        path += '/';
        path += name;
    }
    if (!subresource.empty()) {
        path += '/';
        path += subresource;
    }
    return path;
}

namespace types {
const ResourceType kPods{"", "v1", "pods", "Pod"};
const ResourceType kServices{"", "v1", "services", "Service"};
const ResourceType kConfigMaps{"", "v1", "configmaps", "ConfigMap"};
const ResourceType kSecrets{"", "v1", "secrets", "Secret"};
const ResourceType kEvents{"", "v1", "events", "Event"};
const ResourceType kNamespaces{"", "v1", "namespaces", "Namespace", false};
const ResourceType kNodes{"", "v1", "nodes", "Node", false};
const ResourceType kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount"};
const ResourceType kLeases{"coordination.k8s.io", "v1", "leases", "Lease"};
const ResourceType kBatchJobs{"batch", "v1", "jobs", "Job"};
const ResourceType kCustomResourceDefinitions{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};
}  // namespace types

}  // namespace muster::kube
