#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "cli/internal/run/views.h"

namespace muster::cli {

/// Why a job does not get on.
enum class WaitReason {
    kNoOperator,     ///< nothing has acted on the job
    kQuota,          ///< its pods may not be made
    kUnschedulable,  ///< no node takes them
    kImage,          ///< their images can't be had
    kContainer,      ///< their containers can't be made
    kCrashLoop,      ///< their programs fail again and again
    kSilence,        ///< all run, and none writes anything
};

/// What a job waits for at one moment.
struct Wait {
    WaitReason reason = WaitReason::kNoOperator;
    int pods = 0;        ///< that wait
    int wanted = 0;      ///< of the job
    std::string detail;  ///< in the words of the cluster, of one of the pods

    friend bool operator==(const Wait&, const Wait&) = default;
};

/// What is known of a job.
struct StepState {
    const JobView* job = nullptr;  ///< null: it was not seen yet
    const std::map<std::string, PodView>& pods;
    int wanted = 0;           ///< pods
    std::string job_warning;  ///< the last one about the job itself
};

/// Nothing if it gets on, is suspended by a queue, or has ended. The most certain reason counts. Pure.
std::optional<Wait> what_it_waits_for(const StepState& state);

/// "2 of 3 pods have no node: ..."
std::string tell_wait(const Wait& wait);

/// Measures how long a job waits. A reason that comes back soon has lasted: a program that crashes
/// runs for a moment each time. Pure: the time is a parameter.
class StuckClock {
  public:
    struct Limits {
        std::optional<Duration> stuck_after;   ///< unset: never
        std::optional<Duration> silent_after;  ///< unset: never
    };
    explicit StuckClock(Limits limits) : limits_(limits) {}

    struct Step {
        std::optional<std::string> tell;   ///< a line for people
        bool stuck = false;                ///< it has waited for too long
        std::optional<Instant> wake_at{};  ///< when to ask again, if nothing changes
    };
    /// `last_line`: when one of the pods last wrote something.
    Step observe(Instant now, const std::optional<Wait>& wait, std::optional<Instant> last_line);

  private:
    Step waited(Instant now, const Wait& wait, Instant since, Duration tell_after,
                std::optional<Duration> limit);

    Limits limits_;
    std::optional<WaitReason> held_;  ///< any but silence
    Instant since_{};
    /// When it was first seen to be over. What lasts is looked at only when something changes.
    std::optional<Instant> gone_at_;
    std::optional<Instant> silent_since_;
    std::optional<Instant> tell_at_;
    Duration tell_pause_{};
};

}  // namespace muster::cli
