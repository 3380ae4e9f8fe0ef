#include "base/time/loop_watch.h"

#include <time.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/log.h"
#include "base/unexpected.h"

namespace muster {

namespace {

constexpr std::size_t kMostOfSubject = 200;

thread_local LoopWatch* g_watch = nullptr;

Duration computed_so_far() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void LoopWatch::add(Duration turn, std::string_view work) {
    longest_ = std::max(longest_, turn);
    if (turn <= kLongest) return;
    ++too_long_;
    const bool outstanding = turn > longest_told_ + longest_told_ / 10;
    if (outstanding || !told_at_ || clock_.now() - *told_at_ >= kTellInterval)
        tell(turn, work);
    else
        ++untold_;
}

void LoopWatch::tell(Duration turn, std::string_view work) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    log::warning("A handler held the event loop for too long",
                 {{"ms", fmt::format("{:.1f}", Milliseconds(turn).count())},
                  {"worked_for", work.empty() ? "unknown" : work},
                  {"not_logged_before", std::exchange(untold_, 0)}});
    told_at_ = clock_.now();
    longest_told_ = std::max(longest_told_, turn);
}

void LoopWatch::run(asio::io_context& context) {
    LoopWatch* const before = std::exchange(g_watch, this);
    turn_began_ = computed_so_far();
    std::size_t ran = 1;
    while (ran > 0) {
        contained("a handler of the loop", [&] { ran = context.run_one(); });
        const Duration end = computed_so_far();
        add(end - turn_began_, work_);
        work_.clear();
        turn_began_ = end;
    }
    g_watch = before;
}

bool turn_is_long() {
    constexpr Duration kLong = std::chrono::milliseconds(5);
    return g_watch != nullptr && computed_so_far() - g_watch->turn_began_ > kLong;
}

void works_for(std::string_view action, std::string_view subject) {
    if (g_watch == nullptr) return;
    std::string& work = g_watch->work_;
    work = action;
    if (subject.empty()) return;
    work += ' ';
    work += subject.substr(0, kMostOfSubject);
}

}  // namespace muster
