#include "base/time/loop_watch.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/log.h"
#include "base/unexpected.h"

namespace muster {

namespace {

constexpr std::size_t kMostOfSubject = 200;

thread_local LoopWatch* g_watch = nullptr;

std::string milliseconds(Duration duration) {
    return fmt::format("{:.1f}", std::chrono::duration<double, std::milli>(duration).count());
}

}  // namespace

ThreadTime LoopWatch::turn_of(const ThreadTime& before, Duration woke_at, const ThreadTime& end) {
    return {end.passed - std::max(before.passed, woke_at), end.computed - before.computed};
}

void LoopWatch::add(const ThreadTime& turn, std::string_view work) {
    longest_.computed = std::max(longest_.computed, turn.computed);
    longest_.passed = std::max(longest_.passed, turn.passed);
    if (turn.passed > kLongest) ++passed_too_long_;
    if (turn.computed > kLongest) ++computed_too_long_;
    if (turn.computed <= kLongest && turn.passed <= kLongestPassed) return;
    const Duration now = clock_.now().time_since_epoch();
    if (turn.computed > kLongest) {
        if (const auto left_out = logged_computed_.next(turn.computed, now))
            tell("A handler held the event loop for too long", turn, work, *left_out);
    } else if (const auto left_out = logged_passed_.next(turn.passed, now)) {
        tell("A handler of the event loop waited, or others kept it from running", turn, work,
             *left_out);
    }
}

void LoopWatch::tell(std::string_view message, const ThreadTime& turn, std::string_view work,
                     std::uint64_t left_out) {
    log::warning(message, {{"ms", milliseconds(turn.computed)},
                           {"passed_ms", milliseconds(turn.passed)},
                           {"worked_for", work.empty() ? "unknown" : work},
                           {"not_logged_before", left_out}});
}

void LoopWatch::run(asio::io_context& context) {
    LoopWatch* const before = std::exchange(g_watch, this);
    turn_began_ = thread_time();
    std::size_t ran = 1;
    while (ran > 0) {
        contained("a handler of the loop", [&] { ran = context.run_one(); });
        const ThreadTime end = thread_time();
        add(turn_of(turn_began_, loop_woke_at(), end), work_);
        work_.clear();
        turn_began_ = end;
    }
    g_watch = before;
}

bool turn_is_long() {
    constexpr Duration kLong = std::chrono::milliseconds(5);
    return g_watch != nullptr && (thread_time() - g_watch->turn_began_).computed > kLong;
}

void works_for(std::string_view action, std::string_view subject) {
    if (g_watch == nullptr) return;
    std::string& work = g_watch->work_;
    work = action;
    if (subject.empty()) return;
    work += ' ';
    work += subject.substr(0, kMostOfSubject);
}

std::string current_work() { return g_watch == nullptr ? std::string() : g_watch->work_; }

}  // namespace muster
