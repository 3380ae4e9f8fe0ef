#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::sim {

/// How a start of the containers ended.
struct ContainerEnd {
    std::int32_t exit_code = 0;
    std::string_view reason;  ///< a constant
    WallTime started_at;
    WallTime finished_at;
};

/// What a kubelet knows of a pod, for one report. All main containers of a pod live and end
/// together; init containers are taken as done at once.
struct PodReport {
    enum class State { kWaiting, kRunning, kBackingOff, kEnded };

    State state = State::kWaiting;
    int restarts = 0;
    WallTime accepted_at;                ///< by the node
    WallTime started_at;                 ///< of the current start
    const ContainerEnd* end = nullptr;   ///< kEnded: of the last start
    const ContainerEnd* last = nullptr;  ///< of the start before the current one, if any
    bool evicted = false;                ///< kEnded, and the containers' fate is not told
    int node = 0;
    std::uint64_t address = 0;  ///< counts pods
};

/// The `status` of a report about a pod with this spec, as kubelets write it.
json::object make_pod_status(const json::object& spec, const PodReport& report);

std::string node_name(int node);
/// That of the pod with this number.
std::string pod_address(std::uint64_t number);

}  // namespace muster::sim
