#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace muster {

/// Which of many durations that are too long are worth a line of the log: at most one in kInterval,
/// unless it is by a tenth longer than all that were logged.
class LoggedDurations {
  public:
    static constexpr std::chrono::nanoseconds kInterval = std::chrono::seconds(10);

    /// If this one is to be logged: how many were not since the last line. `now`: by any clock that
    /// only moves forward.
    std::optional<std::uint64_t> next(std::chrono::nanoseconds duration,
                                      std::chrono::nanoseconds now) {
        const bool outstanding = duration > longest_ + longest_ / 10;
        if (!outstanding && logged_at_ && now - *logged_at_ < kInterval) {
            ++left_out_;
            return std::nullopt;
        }
        logged_at_ = now;
        if (duration > longest_) longest_ = duration;
        return std::exchange(left_out_, 0);
    }

  private:
    std::optional<std::chrono::nanoseconds> logged_at_;
    std::chrono::nanoseconds longest_{};
    std::uint64_t left_out_ = 0;
};

}  // namespace muster
