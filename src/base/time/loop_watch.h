#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/async.h"
#include "base/time/clock.h"

namespace boost::asio {
class io_context;
}

namespace muster {

/// How long single handlers of an event loop hold it, in CPU time of its thread: waiting does not
/// count, nor does a machine that is busy with other processes. Handlers that take too long are
/// logged, with what they worked for. Thread: the one of the loop.
class LoopWatch {
  public:
    /// No handler should take longer.
    static constexpr Duration kLongest = std::chrono::milliseconds(50);

    /// `clock` outlives the watch, and says when the next line of the log is due.
    explicit LoopWatch(const Clock& clock) : clock_(clock) {}

    /// Runs the loop until there is no more work. If a handler that belongs to no task throws, the
    /// exception is logged and the loop continues with the next handler, as in run_loop().
    void run(asio::io_context& context);

    Duration longest() const { return longest_; }
    /// How many handlers took longer than kLongest.
    std::uint64_t too_long() const { return too_long_; }

    /// A handler that computed for so long. `work`: what it worked for; may be empty. Holds that are
    /// too long are logged, but at most one in kTellInterval unless it is by a tenth longer than all
    /// that were logged.
    void add(Duration turn, std::string_view work = {});

    static constexpr Duration kTellInterval = std::chrono::seconds(10);

  private:
    friend void works_for(std::string_view action, std::string_view subject);
    friend bool turn_is_long();

    void tell(Duration turn, std::string_view work);

    const Clock& clock_;
    Duration turn_began_{};  ///< in CPU time of the thread
    Duration longest_{};
    std::uint64_t too_long_ = 0;
    std::string work_;  ///< of the handler that runs
    std::optional<Instant> told_at_;
    Duration longest_told_{};
    std::uint64_t untold_ = 0;
};

/// Says what the handler of the loop that runs on this thread works for ("GET", "/api/v1/pods"); the
/// last call in a handler counts. Cheap. Does nothing if no LoopWatch runs the loop.
void works_for(std::string_view action, std::string_view subject = {});

/// Whether the handler of the loop that runs on this thread has computed for so long (some
/// milliseconds) that others should have their turn. Never if no LoopWatch runs the loop, so that
/// simulated worlds do not depend on it.
bool turn_is_long();

}  // namespace muster
