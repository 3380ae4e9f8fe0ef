#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "cli/internal/run/views.h"

namespace muster::cli {

/// What is measured of a job, as it is now.
struct JobMetrics {
    std::string_view state = {};  ///< one of kJobStates; empty: there is no job yet
    double wait_seconds = 0;
    double run_seconds = 0;
    int restarts = 0;
    std::optional<int> exit_code = std::nullopt;  ///< of the step, once it ends

    friend bool operator==(const JobMetrics&, const JobMetrics&) = default;
};

/// The conditions of a job, of which the first one that holds is its state.
inline constexpr std::array<std::string_view, 6> kJobStates = {"Succeeded",  "Failed",  "Suspended",
                                                               "Restarting", "Running", "Created"};

/// Follows one job: when it came, when it first ran, and when it ended. A job that is gone keeps its
/// last state. Pure.
class JobProgress {
  public:
    /// `job` is null if there is none yet, or not any more.
    void observe(Instant now, const JobView* job, int restarts);
    JobMetrics metrics(Instant now) const;

  private:
    std::string_view state_;
    int restarts_ = 0;
    std::optional<Instant> came_at_;
    std::optional<Instant> ran_at_;
    std::optional<Instant> ended_at_;
};

}  // namespace muster::cli
