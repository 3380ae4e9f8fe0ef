#include "base/test_loop.h"

#include <stdexcept>

namespace muster {

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
