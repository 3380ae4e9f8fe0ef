#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/values/json.h"
#include "kube/values/namespaced_name.h"

namespace muster::workloads {

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

struct ContainerExit {
    std::string container;
    std::int64_t code = 0;

    friend bool operator==(const ContainerExit&, const ContainerExit&) = default;
};

/// What decisions read of a pod that a Job or a ReplicaSet controls.
struct PodFacts {
    kube::NamespacedName name;
    std::string uid;
    std::string owner_kind;
    std::string owner_name;
    std::string owner_uid;
    PodPhase phase = PodPhase::kPending;
    bool scheduled = false;
    bool ready = false;
    bool deleting = false;
    bool tracked = false;  ///< has the finalizer of Jobs
    std::optional<WallTime> ready_since;
    std::optional<WallTime> created;
    std::optional<WallTime> finished;   ///< when its last container ended, or it was deleted
    std::optional<std::int64_t> index;  ///< of an Indexed Job
    /// Of one with a limit per index: how many pods of its index failed before it, and how many that
    /// count for nothing.
    std::int64_t index_failures = 0;
    std::int64_t ignored_index_failures = 0;
    std::int64_t restarts = 0;            ///< of all containers
    std::vector<ContainerExit> exits;     ///< of a pod that failed
    std::vector<std::string> conditions;  ///< of a pod that failed: "DisruptionTarget=True"

    bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
    bool active() const { return !ended() && !deleting; }
    /// It is being deleted and still runs.
    bool terminating() const { return !ended() && deleting; }
};
using PodPtr = std::shared_ptr<const PodFacts>;

/// Holds a pod of a Job until its end is counted.
inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
/// Pods that one turn makes, removes or counts at most, so that an object of many pods does not keep
/// others waiting.
inline constexpr std::int64_t kMostPodsInOneTurn = 500;
/// The annotation and the label of the pods of an Indexed Job.
inline constexpr std::string_view kIndexKey = "batch.kubernetes.io/job-completion-index";
/// Annotations, of those with a limit per index.
inline constexpr std::string_view kIndexFailuresKey = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIgnoredIndexFailuresKey =
    "batch.kubernetes.io/job-index-ignored-failure-count";

/// Null for a pod that neither a Job nor a ReplicaSet controls.
PodPtr pod_facts(const json::value& pod);

}  // namespace muster::workloads
