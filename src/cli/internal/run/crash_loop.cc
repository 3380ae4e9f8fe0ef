#include "cli/internal/run/crash_loop.h"

#include <algorithm>

#include "base/signal_name.h"

namespace muster::cli {

namespace {

constexpr double kProgressSeconds = 600;

bool is_same(const TerminationView& a, const TerminationView& b) {
    return a.exit_code == b.exit_code && a.signal == b.signal && a.reason == b.reason;
}

/// By another process, as the loss of a node or an operator of the machine would: not its own fault.
bool was_ended(const TerminationView& end) {
    const int signal = end.signal != 0 ? end.signal : end.exit_code - 128;
    return comes_from_outside(signal) && end.reason != "OOMKilled";
}

}  // namespace

void CrashLoops::note(const PodView& pod, const std::string& container,
                      const TerminationView& end) {
    CrashLoop& loop = loops_[{pod.namespace_ + "/" + pod.name, container}];
    const bool counts = end.seconds < kProgressSeconds && !was_ended(end);
    if (!counts || !is_same(loop.end, end)) loop = {};
    if (!counts) return;
    loop.pod = pod.name;
    loop.container = container;
    loop.end = end;
    loop.times += 1;
    loop.seconds = std::max(loop.seconds, end.seconds);
    if (!longest_ || loop.times > longest_->times) longest_ = loop;
}

std::optional<CrashLoop> CrashLoops::find(int times) const {
    if (!longest_ || longest_->times < times) return std::nullopt;
    return longest_;
}

}  // namespace muster::cli
