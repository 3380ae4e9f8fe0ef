#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "kube/objects/pod.h"

namespace muster::runtime {

struct Termination {
    int exit_code = 0;  ///< 128 + the signal for a killed process, as a kubelet reports it
    std::string reason;
    std::string message;
    WallTime started_at;
    WallTime finished_at;
    std::string container_id;
};

/// The field of a pod's status for ephemeral containers.
inline constexpr std::string_view kEphemeralStatuses = "ephemeralContainerStatuses";

/// What has happened to one container so far.
struct ContainerRecord {
    enum class State { kWaiting, kRunning, kTerminated };

    std::string name;
    std::string image;
    bool init = false;
    bool sidecar = false;  ///< an init container that keeps running beside the others
    bool ephemeral =
        false;  ///< added while the pod runs; started once, and the pod does not wait for it
    bool busy = false;     ///< it has a process, or is about to
    bool started = false;  ///< runs, and its startup probe has passed
    bool ready = false;

    State state = State::kWaiting;
    std::string waiting_reason;
    std::string waiting_message;
    WallTime started_at;
    std::optional<Termination> terminated;  ///< of this instance
    std::optional<Termination> last;        ///< of the one before
    int restarts = 0;
    std::string container_id;
};

/// What has happened to a pod so far; its status follows from it.
struct PodFacts {
    /// Init containers first, in the order of the spec; ephemeral ones last, as they came.
    std::vector<ContainerRecord> containers;
    WallTime start_time;
    std::string pod_ip;
    std::string host_ip;
    bool sandbox_ready = false;
    bool ending = false;  ///< nothing will be started any more
    /// The pod has failed, however its containers ended: "DeadlineExceeded".
    std::string failed_reason;
    std::string failed_message;
};

/// Ended with exit code 0.
bool succeeded(const ContainerRecord& record);

/// How often it has been started. A start in progress does not count, nor does one whose postStart
/// hook is the first that ever runs.
std::uint32_t launches_of(const ContainerRecord& record);

/// The phase by the kubelet's rules (upstream: pkg/kubelet/kubelet_pods.go, getPhase): final only
/// when the pod is ending and none of its processes is left.
std::string pod_phase(const PodFacts& facts);

/// The complete status. A condition that has not changed keeps its transition time from
/// `pod.status`; conditions of others are kept.
kube::PodStatus make_pod_status(const kube::Pod& pod, const PodFacts& facts, WallTime now);

/// Guaranteed, Burstable or BestEffort, by requests and limits.
std::string qos_class(const kube::PodSpec& spec);

}  // namespace muster::runtime
