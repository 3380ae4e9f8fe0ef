#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/signal_set.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"

namespace muster::run {

/// What is done about signals.
struct SignalAnswers {
    std::function<void(int signal, std::string why)> leave;  ///< the first one
    std::function<void(std::string name)> tell;  ///< another one: workers get their time
    std::function<void()> hurry;                 ///< the third of one kind, and each after it
};

/// The signals that ask this node to leave its job. Thread: the loop.
class LeaveSignals {
  public:
    explicit LeaveSignals(const asio::any_io_executor& executor) : signals_(executor) {}

    /// Until it is cancelled. Signals that are ignored, as after `nohup`, stay ignored.
    Task<void> watch(std::vector<int> signals, SignalAnswers answers);
    /// The one that came; nullopt: none did.
    std::optional<int> first() const { return first_; }

  private:
    void answer(int signal, const SignalAnswers& answers);

    asio::signal_set signals_;
    std::optional<int> unanswered_;
    std::optional<int> first_;
    std::map<int, int> seen_;  ///< how often each came
};

}  // namespace muster::run
