#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace muster::operators {

/// Who ran as long as that before it failed begins another row of restarts: twice the longest pause.
inline constexpr std::chrono::minutes kKeptUp{10};

/// A replica type's restartPolicy.
enum class RestartPolicy : std::uint8_t { kAlways, kOnFailure, kNever, kExitCode };

/// How a pod ended without its replica being done.
enum class PodEnd : std::uint8_t {
    kFailed,         ///< its phase is Failed
    kFailedAndGone,  ///< its phase was Failed, and the object is gone
    kStopped,        ///< another client deletes it, or has deleted it, while it ran
};

/// What a replica's job says about restarts at that moment.
struct RestartRules {
    RestartPolicy policy = RestartPolicy::kNever;
    bool exhausted = false;     ///< it has restarted as often as its type may
    bool restarts_all = false;  ///< a failure of this type restarts the whole job
    bool paused = false;        ///< suspended: its pods are deleted for that reason
    bool current = true;        ///< the pod is of the current restart generation
};

/// What follows for the replica, and for its job.
struct Consequence {
    bool lost = false;          ///< the replica has failed for good: no other pod follows
    bool counts = false;        ///< a restart of this replica, for backoffLimit
    bool restarts_all = false;  ///< all replicas restart together, which counts once

    friend bool operator==(const Consequence&, const Consequence&) = default;
};

/// The decision whether a pod is followed by another, and what that costs. `exit_code`: of a pod
/// that failed, if it is known. Pure, so that the cache can keep sums of the consequences.
Consequence consequence_of(PodEnd end, std::optional<std::int32_t> exit_code,
                           const RestartRules& rules);

/// Exit codes that a restart may cure: 128 and above, that is, death by a signal. A pod that ended
/// without its container's status (evicted, node lost) counts as one of these
/// (training-operator pkg/util/train, IsRetryableExitCode; pod.go's 0xbeef).
bool is_retryable(std::optional<std::int32_t> exit_code);

}  // namespace muster::operators
