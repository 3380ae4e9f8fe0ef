#include "base/time/side_watch.h"

#include <algorithm>

#include "base/log.h"
#include "base/time/loop_watch.h"

namespace muster {

namespace {

std::string milliseconds_of(Duration duration) {
    return fmt::format("{:.1f}", std::chrono::duration<double, std::milli>(duration).count());
}

}  // namespace

SideThread::Watch SideWatch::hooks() {
    return {.current_work = current_work, .ended = [this](const SideComputation& computation) {
                works_for(computation.work);
                add(computation);
            }};
}

void SideWatch::add(const SideComputation& computation) {
    auto found = kinds_.find(computation.name);
    if (found == kinds_.end()) found = kinds_.try_emplace(std::string(computation.name)).first;
    Kind& kind = found->second;
    ++kind.ended;
    kind.computed += computation.took.computed;
    kind.longest_computed = std::max<Duration>(kind.longest_computed, computation.took.computed);
    waited_ += computation.waited;
    longest_waited_ = std::max<Duration>(longest_waited_, computation.waited);
    const Duration all = computation.waited + computation.took.passed;
    if (all <= kLongest) return;
    const auto left_out = logged_.next(all, clock_.now().time_since_epoch());
    if (!left_out) return;
    log::warning("A computation beside the event loop took long",
                 {{"computation", computation.name},
                  {"ms", milliseconds_of(computation.took.computed)},
                  {"passed_ms", milliseconds_of(computation.took.passed)},
                  {"waited_ms", milliseconds_of(computation.waited)},
                  {"worked_for", computation.work.empty() ? "unknown" : computation.work},
                  {"not_logged_before", *left_out}});
}

}  // namespace muster
