#pragma once

#include <cstdint>

#include "base/async/async.h"
#include "base/time/clock.h"

namespace boost::asio {
class io_context;
}

namespace muster {

/// How long the work of a loop keeps everybody else from their turn, measured in the time that its
/// thread computes: waiting counts for nothing, nor does a machine that is busy with others.
/// Thread: the one of the loop that it runs.
class LoopWatch {
  public:
    /// What no turn should take longer than.
    static constexpr Duration kLongest = std::chrono::milliseconds(50);

    /// Runs the loop until there is no more work, as its own run() does.
    void run(asio::io_context& context);

    Duration longest() const { return longest_; }
    /// How many turns took longer than kLongest.
    std::uint64_t too_long() const { return too_long_; }

    /// A turn that computed for so long.
    void add(Duration turn);

  private:
    Duration longest_{};
    std::uint64_t too_long_ = 0;
};

}  // namespace muster
