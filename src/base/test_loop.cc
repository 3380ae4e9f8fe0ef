#include "base/test_loop.h"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <stdexcept>

namespace muster {

void TestLoop::run_to_end(Task<void> task) {
    struct End {
        bool reached = false;
        std::exception_ptr thrown;
    };
    // Shared: a task that was given up may still end later.
    auto end = std::make_shared<End>();
    asio::co_spawn(context, std::move(task), [end](std::exception_ptr thrown) {
        end->thrown = std::move(thrown);
        end->reached = true;
    });
    run_until([end] { return end->reached; });
    if (end->thrown) std::rethrow_exception(end->thrown);
}

void TestLoop::settle() {
    context.restart();
    context.poll();
}

void SimulatedLoop::run_until(const std::function<bool()>& done) {
    while (!done()) {
        context.restart();
        if (context.poll() > 0) continue;
        if (!clock.advance_to_next())
            throw std::logic_error("the test waits for something that never happens");
    }
}

void SimulatedLoop::advance(Duration time) { run_simulation(context, clock, clock.now() + time); }

void RealLoop::run_until(const std::function<bool()>& done) {
    context.restart();
    const Instant give_up = clock.now() + kTooLong;
    while (!done()) {
        if (clock.now() >= give_up || context.run_one_for(kTooLong) == 0)
            throw std::logic_error("the test waits for something that does not happen");
    }
}

}  // namespace muster
