#pragma once

#include <cstdint>

#include "base/async/async.h"
#include "base/time/clock.h"

namespace boost::asio {
class io_context;
}

namespace muster {

/// How long single handlers of an event loop hold it, in CPU time of its thread: waiting does not
/// count, nor does a machine that is busy with other processes. Thread: the one of the loop.
class LoopWatch {
  public:
    /// No handler should take longer.
    static constexpr Duration kLongest = std::chrono::milliseconds(50);

    /// Runs the loop until there is no more work, as its own run() does.
    void run(asio::io_context& context);

    Duration longest() const { return longest_; }
    /// How many handlers took longer than kLongest.
    std::uint64_t too_long() const { return too_long_; }

    /// A handler that computed for so long.
    void add(Duration turn);

  private:
    Duration longest_{};
    std::uint64_t too_long_ = 0;
};

}  // namespace muster
