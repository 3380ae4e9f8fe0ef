#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/async/async.h"
#include "base/thread_time.h"
#include "base/time/clock.h"
#include "base/time/logged_durations.h"

namespace boost::asio {
class io_context;
}

namespace muster {

/// How long single handlers of an event loop hold it. In CPU time of its thread, which a busy
/// machine does not change; and in time that passes, which a handler also takes that waits for a
/// disk, without the wait for something to do. Handlers that take too long are logged, with what
/// they worked for. Thread: the one of the loop.
class LoopWatch {
  public:
    /// No handler should take longer, by either clock.
    static constexpr Duration kLongest = std::chrono::milliseconds(50);
    /// A handler that computes for less is logged if it lasts longer. A busy machine lets others run
    /// for shorter times.
    static constexpr Duration kLongestPassed = std::chrono::milliseconds(250);

    /// `clock` outlives the watch, and says when the next line of the log is due.
    explicit LoopWatch(const Clock& clock) : clock_(clock) {}

    /// Runs the loop until there is no more work. If a handler that belongs to no task throws, the
    /// exception is logged and the loop continues with the next handler, as in run_loop().
    void run(asio::io_context& context);

    /// The longest times of each kind, of two handlers perhaps.
    const ThreadTime& longest() const { return longest_; }
    /// How many handlers computed for longer than kLongest.
    std::uint64_t computed_too_long() const { return computed_too_long_; }
    /// How many handlers took longer than kLongest to end.
    std::uint64_t passed_too_long() const { return passed_too_long_; }

    /// What a handler took that began after `before`, or when the loop woke for it, and has ended.
    static ThreadTime turn_of(const ThreadTime& before, Duration woke_at, const ThreadTime& end);

    /// A handler that took so long. `work`: what it worked for; may be empty.
    void add(const ThreadTime& turn, std::string_view work = {});

  private:
    friend void works_for(std::string_view action, std::string_view subject);
    friend std::string current_work();
    friend bool turn_is_long();

    void tell(std::string_view message, const ThreadTime& turn, std::string_view work,
              std::uint64_t left_out);

    const Clock& clock_;
    ThreadTime turn_began_;
    ThreadTime longest_;
    std::uint64_t computed_too_long_ = 0;
    std::uint64_t passed_too_long_ = 0;
    std::string work_;  ///< of the handler that runs
    LoggedDurations logged_computed_;
    LoggedDurations logged_passed_;
};

/// Says what the handler of the loop that runs on this thread works for ("GET", "/api/v1/pods"); the
/// last call in a handler counts. Cheap. Does nothing if no LoopWatch runs the loop.
void works_for(std::string_view action, std::string_view subject = {});

/// What works_for() has said in this handler; empty if nothing.
std::string current_work();

/// Whether the handler of the loop that runs on this thread has computed for so long (some
/// milliseconds) that others should have their turn. Never if no LoopWatch runs the loop, so that
/// simulated worlds do not depend on it.
bool turn_is_long();

}  // namespace muster
