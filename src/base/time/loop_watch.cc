#include "base/time/loop_watch.h"

#include <time.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>

namespace muster {

namespace {

Duration computed_so_far() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void LoopWatch::add(Duration turn) {
    longest_ = std::max(longest_, turn);
    if (turn > kLongest) ++too_long_;
}

void LoopWatch::run(asio::io_context& context) {
    Duration before = computed_so_far();
    while (context.run_one() > 0) {
        const Duration after = computed_so_far();
        add(after - before);
        before = after;
    }
}

}  // namespace muster
