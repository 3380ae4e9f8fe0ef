#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json.h"

namespace muster::cli {

/// A kind of object that a server has, and its names.
struct ApiResource {
    kube::ResourceType type;
    std::string singular;
    std::vector<std::string> short_names;
    std::vector<std::string> categories;
    std::vector<std::string> verbs;

    bool can(std::string_view verb) const;
    /// "pod", "pytorchjob.kubeflow.org": before the name of an object.
    std::string qualified_singular() const;

    friend bool operator==(const ApiResource&, const ApiResource&) = default;
};

/// Everything that a server has, in the server's order of preference. Pure.
class ResourceCatalog {
  public:
    explicit ResourceCatalog(std::vector<ApiResource> resources)
        : resources_(std::move(resources)) {}

    const std::vector<ApiResource>& all() const { return resources_; }
    /// The meaning of a word: a plural, singular or short name or a kind, optionally followed by
    /// its group or its version and group after dots ("jobs.batch", "jobs.v1.batch"), or else a
    /// category, which means several. kNotFound says what was probably meant. The pointers are
    /// valid as long as this.
    Result<std::vector<const ApiResource*>> find(std::string_view word) const;
    /// The resource of a manifest's objects; null if the server does not have it.
    const ApiResource* find_kind(std::string_view api_version, std::string_view kind) const;

  private:
    std::vector<ApiResource> resources_;
};

/// Adds the resources of an aggregated discovery document (an APIGroupDiscoveryList). False for any
/// other document.
bool add_aggregated(const json::value& document, std::vector<ApiResource>& resources);
/// The same for an APIResourceList, as in older servers, one for each group and version.
void add_resource_list(const json::value& document, std::vector<ApiResource>& resources);
/// The groups and preferred versions of an APIGroupList: "apps/v1".
std::vector<std::string> group_versions(const json::value& document);

}  // namespace muster::cli
