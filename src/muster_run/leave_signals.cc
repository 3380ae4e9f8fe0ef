#include "muster_run/leave_signals.h"

#include <fmt/format.h>

#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstring>

#include "base/log.h"

namespace muster::run {

Task<void> LeaveSignals::watch(std::vector<int> signals, std::function<void(std::string)> leave) {
    for (const int signal : signals) signals_.add(signal);
    for (;;) {
        const int signal = co_await signals_.async_wait(asio::use_awaitable);
        if (first_) continue;
        first_ = signal;
        const std::string name = fmt::format("SIG{}", sigabbrev_np(signal));
        log::info("stopping the workers of this node", {{"signal", name}});
        leave(name + " was sent to its agent");
    }
}

}  // namespace muster::run
