#include "runtime/internal/pod/recovered_starts.h"

#include <utility>

#include "runtime/internal/pod/run_id.h"

namespace muster::runtime {

namespace {

FoundContainer::State state_after(pod_init::Report::Kind kind) {
    switch (kind) {
        case pod_init::Report::Kind::kStarting:
            return FoundContainer::State::kStarting;
        case pod_init::Report::Kind::kStarted:
            return FoundContainer::State::kRunning;
        case pod_init::Report::Kind::kExited:
            return FoundContainer::State::kEnded;
        case pod_init::Report::Kind::kStartFailed:
            return FoundContainer::State::kFailed;
        case pod_init::Report::Kind::kReady:
        case pod_init::Report::Kind::kSetupFailed:
        case pod_init::Report::Kind::kExecEnded:
        case pod_init::Report::Kind::kTerminal:
        case pod_init::Report::Kind::kTold:
            break;
    }
    return FoundContainer::State::kNone;
}

}  // namespace

void FoundStarts::take(pod_init::Report report) {
    const FoundContainer::State state = state_after(report.kind);
    const RunId run = RunId::of(report.id);
    if (state == FoundContainer::State::kNone || run.container >= newest_.size()) return;
    Start& newest = newest_[run.container];
    if (newest.state != FoundContainer::State::kNone && report.id < newest.report.id) return;
    newest = {.state = state, .report = std::move(report)};
}

}  // namespace muster::runtime
