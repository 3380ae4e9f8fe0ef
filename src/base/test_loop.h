#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/time/real_clock.h"
#include "base/time/sim_clock.h"

namespace muster {

/// The loop of a test: owns it, and runs tasks on it to their ends. A fixture derives from
/// SimulatedLoop, or from RealLoop where real processes or files are at work.
class TestLoop {
  public:
    TestLoop() = default;
    virtual ~TestLoop() = default;
    TestLoop(const TestLoop&) = delete;
    TestLoop& operator=(const TestLoop&) = delete;

    /// Runs `task` to its end and returns its value, or throws what it threw. Time passes only as
    /// far as the task needs.
    template <class T>
    T await(Task<T> task);

    /// Runs until `done()`. Throws std::logic_error when that never comes.
    virtual void run_until(const std::function<bool()>& done) = 0;

    /// Lets happen what is ready; no time passes.
    void settle();

    asio::io_context context;
};

/// Virtual time: waiting costs nothing. A task that waits for what never happens throws.
class SimulatedLoop : public TestLoop {
  public:
    void run_until(const std::function<bool()>& done) override;
    /// Lets `time` pass, and happen what happens until then.
    void advance(Duration time);

    SimClock clock;
};

/// Real time. What takes longer than any test may wait throws.
class RealLoop : public TestLoop {
  public:
    static constexpr Duration kTooLong = std::chrono::seconds(20);

    void run_until(const std::function<bool()>& done) override;

    RealClock clock;
};

template <class T>
T TestLoop::await(Task<T> task) {
    struct End {
        bool reached = false;
        std::exception_ptr thrown;
        std::optional<std::conditional_t<std::is_void_v<T>, std::monostate, T>> value;
    };
    // Shared: a task that was given up may still end later.
    auto end = std::make_shared<End>();
    if constexpr (std::is_void_v<T>) {
        asio::co_spawn(context, std::move(task), [end](std::exception_ptr thrown) {
            end->thrown = thrown;
            end->reached = true;
        });
    } else {
        asio::co_spawn(context, std::move(task), [end](std::exception_ptr thrown, T value) {
            end->thrown = thrown;
            if (!thrown) end->value.emplace(std::move(value));
            end->reached = true;
        });
    }
    run_until([end] { return end->reached; });
    if (end->thrown) std::rethrow_exception(end->thrown);
    if constexpr (!std::is_void_v<T>) return *std::move(end->value);
}

}  // namespace muster
