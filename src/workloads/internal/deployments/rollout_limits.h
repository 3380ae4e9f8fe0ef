#pragma once

#include <boost/json/object.hpp>
#include <cstdint>

#include "kube/values/json.h"

namespace muster::workloads {

/// How many pods a rolling update may have beyond, and available below, what is wanted: numbers, or
/// shares of it ("25%"; the one rounded up, the other down). Not both are zero. Nothing for Recreate.
struct RolloutLimits {
    std::int64_t surge = 0;
    std::int64_t unavailable = 0;
};
RolloutLimits rollout_limits(const json::object& deployment_spec, std::int64_t replicas);

/// The size of a ReplicaSet of `size` pods after the whole grows from `before` to `after`, rounded as
/// Kubernetes rounds.
std::int64_t proportional_size(std::int64_t size, std::int64_t after, std::int64_t before);

}  // namespace muster::workloads
