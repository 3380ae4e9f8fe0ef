#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kube/values/json.h"
#include "sim/internal/pod_report.h"
#include "sim/pod_life.h"
#include "sim/pod_program.h"

namespace muster::sim {

// Exit codes as a kubelet reports them.
inline constexpr std::int32_t kTerminatedExit = 143;  ///< ended by SIGTERM
inline constexpr std::int32_t kKilledExit = 137;      ///< by SIGKILL
inline constexpr std::int32_t kNeverRanExit = 137;    ///< what is said of a start that never was

///     kUnbound ─▶ kStarting ─▶ kRunning ◀─▶ kBackingOff
///                     │           │  └─▶ kStopping │
///                     └───────────┴─▶ kEnded ◀─────┘
enum class PodStage { kUnbound, kStarting, kRunning, kBackingOff, kStopping, kEnded };

/// How far the cluster has given up a pod on a lost node.
enum class Lost { kNo, kEvicted, kRemoved };

/// One pod as its node knows it. `object` is what the API last showed.
struct SimulatedPod {
    /// A pod that has ended already stays as it is.
    SimulatedPod(kube::ObjectPtr shown, std::uint64_t number);

    std::string uid() const;
    std::string name() const;
    std::string namespace_() const;
    std::string_view bound_to() const;
    bool shows_deletion() const;
    bool shows_end() const;  ///< phase Succeeded or Failed
    /// What the deletion leaves its containers.
    Duration grace() const;
    /// Views into `object`.
    PodIdentity identity() const;
    /// Whether its restartPolicy starts the containers again.
    bool restarts_after(std::int32_t exit_code) const;
    ContainerEnd make_end(std::int32_t exit_code, WallTime now) const;
    /// What there is to say now, or about the time when it ran.
    PodReport report(bool as_running) const;

    kube::ObjectPtr object;
    std::uint64_t address;
    int node = -1;
    PodStage stage = PodStage::kUnbound;
    Lost lost = Lost::kNo;
    bool deleting = false;  ///< the node has heard of the deletion
    bool evicted = false;
    bool has_run = false;
    bool gone = false;  ///< from the API, or not ours

    PodLife life;
    std::unique_ptr<PodProgram> program;  ///< of the newest start; null: it has a drawn life
    int restarts = 0;
    Duration crash_backoff{};  ///< before the next restart
    WallTime accepted_at;
    WallTime started_at;
    std::optional<ContainerEnd> last;
    std::optional<ContainerEnd> end;
    std::uint64_t epoch = 0;  ///< of the planned step

    bool unreported = false;
    bool told_running = false;
    bool marked_lost = false;
    bool queued = false;  ///< for a write, or being written
    std::uint64_t reports = 0;
    Instant report_from{};
    Instant retry_from{};
    Instant bind_from{};
};
using PodPtr = std::shared_ptr<SimulatedPod>;

std::string_view uid_of(const json::value& object);

}  // namespace muster::sim
