#pragma once

#include <time.h>

#include <chrono>

namespace muster {

/// Two clocks read on one thread. What a thread has taken decides nothing: it is measured and shown.
struct ThreadTime {
    std::chrono::nanoseconds passed{};    ///< by a clock that only moves forward
    std::chrono::nanoseconds computed{};  ///< by the thread: neither waiting, nor for others to run

    friend ThreadTime operator-(const ThreadTime& end, const ThreadTime& begin) {
        return {end.passed - begin.passed, end.computed - begin.computed};
    }
};

namespace internal {

/// When the event loop of this thread has last stopped waiting for something to do.
inline thread_local constinit std::chrono::nanoseconds loop_woke_at{};

inline std::chrono::nanoseconds read_clock(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace internal

inline ThreadTime thread_time() {
    return {internal::read_clock(CLOCK_MONOTONIC), internal::read_clock(CLOCK_THREAD_CPUTIME_ID)};
}

/// When the event loop of this thread has last stopped waiting for something to do, by the clock of
/// ThreadTime::passed.
inline std::chrono::nanoseconds loop_woke_at() { return internal::loop_woke_at; }
/// It stops now. Called by the loop.
inline void note_loop_woke() { internal::loop_woke_at = internal::read_clock(CLOCK_MONOTONIC); }

}  // namespace muster
