#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver_http {

/// A subresource as described to clients.
struct SubresourceKind {
    std::string name;
    /// The kind that it accepts and returns. Group and version are empty if they are the
    /// resource's.
    std::string_view group;
    std::string_view version;
    std::string kind;
    std::vector<std::string_view> verbs;
};

/// The subresources that are served for a resource, by name.
std::vector<SubresourceKind> subresources_of(const apiserver::ResourceDef& def);

}  // namespace muster::apiserver_http
