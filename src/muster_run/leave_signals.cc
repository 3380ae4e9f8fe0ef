#include "muster_run/leave_signals.h"

#include <boost/asio/use_awaitable.hpp>
#include <csignal>

#include "base/log.h"
#include "base/signal_name.h"

namespace muster::run {

namespace {

/// So often the same signal has to come.
constexpr int kHurry = 3;

bool is_ignored(int signal) {
    struct sigaction now{};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Task<void> LeaveSignals::watch(std::vector<int> signals, SignalAnswers answers) {
    for (const int signal : signals)
        if (!is_ignored(signal)) signals_.add(signal);
    for (;;) {
        // A platform sends it once: after a fault it is answered again.
        if (!unanswered_) {
            unanswered_ = co_await signals_.async_wait(asio::use_awaitable);
            ++seen_[*unanswered_];
        }
        answer(*unanswered_, answers);
        unanswered_.reset();
    }
}

void LeaveSignals::answer(int signal, const SignalAnswers& answers) {
    const std::string name = signal_name(signal);
    if (!first_) {
        log::info("stopping the workers of this node", {{"signal", name}});
        answers.leave(signal, name + " was sent to its agent");
        first_ = signal;
    } else if (seen_[signal] < kHurry) {
        answers.tell(name);
    } else {
        log::warning("the workers of this node are killed", {{"signal", name}});
        answers.hurry();
    }
}

}  // namespace muster::run
