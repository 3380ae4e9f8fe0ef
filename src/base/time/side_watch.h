#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/async/side_thread.h"
#include "base/time/clock.h"
#include "base/time/logged_durations.h"

namespace muster {

/// How long computations wait for a SideThread and how long each kind of them takes: a slow one
/// delays all that come after it. Those for which someone waited too long are logged. Thread: the
/// loop.
class SideWatch {
  public:
    /// No one should wait longer for a result.
    static constexpr Duration kLongest = std::chrono::milliseconds(500);

    struct Kind {
        std::uint64_t ended = 0;
        Duration computed{};  ///< by all of them
        Duration longest_computed{};
    };

    /// `clock` outlives the watch, and says when the next line of the log is due.
    explicit SideWatch(const Clock& clock) : clock_(clock) {}

    /// For the SideThread that it watches, which it outlives. What follows a computation is worked
    /// for what it was begun for.
    SideThread::Watch hooks();

    void add(const SideComputation& computation);

    /// By the name of what was computed.
    const std::map<std::string, Kind, std::less<>>& kinds() const { return kinds_; }
    Duration waited() const { return waited_; }
    Duration longest_waited() const { return longest_waited_; }

  private:
    const Clock& clock_;
    std::map<std::string, Kind, std::less<>> kinds_;
    Duration waited_{};
    Duration longest_waited_{};
    LoggedDurations logged_;
};

}  // namespace muster
