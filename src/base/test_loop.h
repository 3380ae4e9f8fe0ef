#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/time/real_clock.h"
#include "base/time/sim_clock.h"

namespace muster {

/// The event loop of a test: owns it, and runs tasks on it to completion. A fixture derives from
/// SimulatedLoop, or from RealLoop if it uses real processes or files.
class TestLoop {
  public:
    TestLoop() = default;
    virtual ~TestLoop() = default;
    TestLoop(const TestLoop&) = delete;
    TestLoop& operator=(const TestLoop&) = delete;

    /// Runs `task` to completion and returns its value, or throws what it threw. Time passes only
    /// as far as the task needs.
    template <class T>
    T await(Task<T> task);

    /// Runs until `done()` is true. Throws std::logic_error if that can't happen any more.
    virtual void run_until(const std::function<bool()>& done) = 0;

    /// Runs everything that is ready; no time passes.
    void settle();

    asio::io_context context;

  private:
    /// Throws what the task threw. Not a template, so that tests do not each compile a co_spawn().
    void run_to_end(Task<void> task);
};

/// Virtual time: waiting costs nothing. A task that waits for something that never happens throws.
class SimulatedLoop : public TestLoop {
  public:
    void run_until(const std::function<bool()>& done) override;
    /// Lets `time` pass, and runs everything that is due until then.
    void advance(Duration time);

    SimClock clock;
};

/// Real time. A wait that takes longer than any test may wait throws.
class RealLoop : public TestLoop {
  public:
    static constexpr Duration kTooLong = std::chrono::seconds(20);

    void run_until(const std::function<bool()>& done) override;

    RealClock clock;
};

namespace internal {

template <class T>
Task<void> keep_value(Task<T> task, std::shared_ptr<std::optional<T>> value) {
    value->emplace(co_await std::move(task));
}

}  // namespace internal

template <class T>
T TestLoop::await(Task<T> task) {
    if constexpr (std::is_void_v<T>) {
        run_to_end(std::move(task));
    } else {
        // Shared: a task that was given up may still end later.
        auto value = std::make_shared<std::optional<T>>();
        run_to_end(internal::keep_value(std::move(task), value));
        return *std::move(*value);
    }
}

}  // namespace muster
