#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace muster::sim {

/// Uniform between both ends, in whole milliseconds.
struct DurationRange {
    Duration least{};
    Duration most{};
};

struct ExitChance {
    std::int32_t exit_code = 0;
    double weight = 1;
};

/// What pods do, by chance.
struct PodBehaviour {
    DurationRange start_delay{};    ///< from being bound to running containers
    DurationRange run_time{};       ///< from a start of the containers to their end
    DurationRange stop_time{};      ///< from the wish to stop to the end; the grace period at most
    std::vector<ExitChance> exits;  ///< empty: always 0
    double never_starts = 0;        ///< probability of a pod that stays Pending
    double runs_forever = 0;        ///< probability of a start that ends only when stopped
};

/// A pod as its life depends on it. The views live as long as the call.
struct PodIdentity {
    std::string_view namespace_{};
    std::string_view name{};
    std::string_view uid{};
    std::string_view job{};      ///< from the labels, as are the next two
    std::string_view replica{};  ///< the replica type in lower case
    std::string_view index{};
    std::string_view restart_policy{};  ///< of the pod
};

/// What becomes of one start of a pod's containers.
struct PodLife {
    Duration start_delay{};  ///< Duration::max(): never starts
    Duration run_time{};     ///< Duration::max(): until it is stopped
    Duration stop_time{};
    std::int32_t exit_code = 0;
};

/// A pure function: the same arguments give the same life, whatever else happens. `start` counts
/// the starts of this pod's containers from 0.
PodLife life_of(const PodBehaviour& behaviour, std::uint64_t seed, const PodIdentity& pod,
                int start);

}  // namespace muster::sim
