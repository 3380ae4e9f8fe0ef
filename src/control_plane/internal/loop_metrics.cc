#include "control_plane/internal/loop_metrics.h"

#include <string>
#include <utility>

#include "apiserver_http/metric_family.h"

namespace muster::control_plane {

namespace {

using apiserver_http::family;
using prometheus::MetricType;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::vector<prometheus::MetricFamily> loop_metrics(const LoopWatch& loop) {
    return {
        family("muster_event_loop_longest_hold_seconds",
               "The longest CPU time of one handler on the event loop, in seconds.",
               MetricType::Gauge, seconds(loop.longest().computed)),
        family("muster_event_loop_long_holds_total",
               "Handlers on the event loop that took more than 50 ms of CPU time.",
               MetricType::Counter, static_cast<double>(loop.computed_too_long())),
        family("muster_event_loop_longest_turn_seconds",
               "The longest time from the beginning of one handler on the event loop to its end, "
               "in seconds, with what it waited for.",
               MetricType::Gauge, seconds(loop.longest().passed)),
        family("muster_event_loop_long_turns_total",
               "Handlers on the event loop that ended more than 50 ms after they began.",
               MetricType::Counter, static_cast<double>(loop.passed_too_long()))};
}

std::vector<prometheus::MetricFamily> side_metrics(const SideWatch& side) {
    using Values = std::vector<std::pair<std::string, double>>;
    Values ended;
    Values computed;
    Values longest;
    for (const auto& [name, kind] : side.kinds()) {
        ended.emplace_back(name, static_cast<double>(kind.ended));
        computed.emplace_back(name, seconds(kind.computed));
        longest.emplace_back(name, seconds(kind.longest_computed));
    }
    return {family("muster_side_thread_computations_total",
                   "Computations beside the event loop, one after the other, that have ended.",
                   MetricType::Counter, "computation", ended),
            family("muster_side_thread_cpu_seconds_total", "Their CPU time in seconds.",
                   MetricType::Counter, "computation", computed),
            family("muster_side_thread_longest_seconds",
                   "The longest CPU time of one of them, in seconds.", MetricType::Gauge,
                   "computation", longest),
            family("muster_side_thread_wait_seconds_total",
                   "How long all of them have waited for those before them, in seconds.",
                   MetricType::Counter, seconds(side.waited())),
            family("muster_side_thread_longest_wait_seconds",
                   "How long one of them has waited at most, in seconds.", MetricType::Gauge,
                   seconds(side.longest_waited()))};
}

}  // namespace muster::control_plane
