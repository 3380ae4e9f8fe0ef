#pragma once

#include <cstdint>
#include <string_view>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// Where a version stands in discovery: groups with a higher number come first, and so do versions
/// in their group.
struct DiscoveryPriority {
    std::int64_t group = 0;
    std::int64_t version = 0;

    friend bool operator==(const DiscoveryPriority&, const DiscoveryPriority&) = default;
};

/// Of a version that this server serves itself. The numbers are kube-apiserver's.
DiscoveryPriority local_priority(const ResourceDef& def);

}  // namespace muster::apiserver
