#include "runtime/internal/limits/oom_watch.h"

#include <utility>

#include "base/log.h"
#include "base/time/restarting_task.h"

namespace muster::runtime {

namespace {

/// Pauses between looks at the count after a notice, doubled each time.
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr Duration kLongestPause = std::chrono::milliseconds(500);

}  // namespace

OomWatch::OomWatch(PodIsolation& isolation, TaskGroup& tasks, Clock& clock,
                   std::function<void(std::size_t container)> report)
    : isolation_(isolation), tasks_(tasks), clock_(clock), report_(std::move(report)) {
    isolation_.node().oom_watches.insert(this);
}

OomWatch::~OomWatch() { isolation_.node().oom_watches.erase(this); }

bool OomWatch::unexplained_kill(std::uint32_t instance) {
    if (!isolation_.node().machine_kills.rose()) return false;
    for (OomWatch* watch : isolation_.node().oom_watches) watch->look();
    return !isolation_.counts_kills(instance);
}

void OomWatch::look() {
    for (const auto& [instance, watched] : watched_) report_new(instance);
}

void OomWatch::begin(std::size_t container, std::uint32_t instance) {
    Watched& watched = watched_[instance];
    watched.container = container;
    auto notices = isolation_.oom_notices(tasks_.executor(), instance);
    if (!notices)
        log::info("processes that are killed for memory are told when their container ends",
                  {{"error", notices.error().message()}});
    if (!notices || *notices == nullptr) return;
    watched.notices = std::move(*notices);
    spawn_restarting(tasks_, clock_, "out of memory", [this, instance, notices = watched.notices] {
        return watch(instance, notices);
    });
}

void OomWatch::end(std::uint32_t instance) {
    report_new(instance);
    auto ended = watched_.extract(instance);
    if (!ended.empty() && ended.mapped().notices != nullptr) ended.mapped().notices->close();
}

void OomWatch::end_all() {
    while (!watched_.empty()) end(watched_.begin()->first);
}

Task<void> OomWatch::watch(std::uint32_t instance, std::shared_ptr<OomNotices> notices) {
    // One that was taken over may have a count.
    report_new(instance);
    while (watched_.contains(instance)) {
        co_await notices->wait();
        for (Duration pause = kFirstPause; !report_new(instance) && pause < kLongestPause;
             pause *= 2)
            co_await clock_.sleep_for(pause);
    }
}

bool OomWatch::report_new(std::uint32_t instance) {
    const auto found = watched_.find(instance);
    if (found == watched_.end()) return false;
    const std::int64_t kills = isolation_.oom_kills(instance);
    if (kills <= found->second.reported) return false;
    found->second.reported = kills;
    report_(found->second.container);
    return true;
}

}  // namespace muster::runtime
