#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/signal_set.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"

namespace muster::run {

/// The signals that ask this node to leave its job. Only the first one counts: workers get the time
/// that they were promised. Thread: the loop.
class LeaveSignals {
  public:
    explicit LeaveSignals(const asio::any_io_executor& executor) : signals_(executor) {}

    /// Until it is cancelled. `leave` is told once, with the reason.
    Task<void> watch(std::vector<int> signals, std::function<void(std::string)> leave);
    /// The one that came; nullopt: none did.
    std::optional<int> first() const { return first_; }

  private:
    asio::signal_set signals_;
    std::optional<int> first_;
};

}  // namespace muster::run
