#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "apiserver/internal/quota/limit_range.h"
#include "apiserver/internal/quota/pod_priority.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

bool is_pod(const Target& target);

/// What other objects say about a new pod or a new claim of storage, taken from the cache before
/// the object is completed.
struct Surroundings {
    LimitRanges ranges = {};
    /// Of a pod.
    std::optional<PodPriority> priority = {};
    /// The class that a pod names and that does not exist.
    std::string missing_class = {};
};
Surroundings surroundings_of(const ServerState& state, const Target& target,
                             const json::object& object);

/// Gives a new pod its priority and the defaults of the LimitRanges, or refuses it. Pure.
StatusResult<void> admit_pod(const Target& target, json::object& pod,
                             const Surroundings& surroundings);

}  // namespace muster::apiserver
