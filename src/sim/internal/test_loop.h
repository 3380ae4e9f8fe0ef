#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/check.h"
#include "base/time/sim_clock.h"

namespace muster::sim {

/// A loop on virtual time that a test drives.
struct SimLoop {
    void run_for(Duration duration) { run_simulation(context, clock, clock.now() + duration); }

    /// Runs until the task has ended.
    template <class T>
    T wait(Task<T> task) {
        std::optional<T> result;
        asio::co_spawn(context, std::move(task), [&](std::exception_ptr error, T value) {
            if (error) std::rethrow_exception(error);
            result.emplace(std::move(value));
        });
        advance_until([&] { return result.has_value(); });
        return *std::move(result);
    }
    void wait(Task<void> task) {
        bool ended = false;
        asio::co_spawn(context, std::move(task), [&](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
            ended = true;
        });
        advance_until([&] { return ended; });
    }

    asio::io_context context;
    SimClock clock;

  private:
    template <class Condition>
    void advance_until(Condition met) {
        while (!met()) {
            context.restart();
            if (context.poll() == 0) CHECK(clock.advance_to_next(), "nothing is left to happen");
        }
    }
};

}  // namespace muster::sim
