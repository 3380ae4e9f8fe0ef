#include "runtime/internal/pod/recovered_starts.h"

#include <utility>

#include "runtime/internal/run_id.h"

namespace muster::runtime {

namespace {

RecoveredContainer::State state_after(pod_init::Report::Kind kind) {
    switch (kind) {
        case pod_init::Report::Kind::kStarting:
            return RecoveredContainer::State::kStarting;
        case pod_init::Report::Kind::kStarted:
            return RecoveredContainer::State::kRunning;
        case pod_init::Report::Kind::kExited:
            return RecoveredContainer::State::kEnded;
        case pod_init::Report::Kind::kStartFailed:
            return RecoveredContainer::State::kFailed;
        case pod_init::Report::Kind::kReady:
        case pod_init::Report::Kind::kSetupFailed:
        case pod_init::Report::Kind::kExecEnded:
        case pod_init::Report::Kind::kTerminal:
        case pod_init::Report::Kind::kTold:
            break;
    }
    return RecoveredContainer::State::kNone;
}

}  // namespace

void RecoveredStarts::take(pod_init::Report report) {
    const RecoveredContainer::State state = state_after(report.kind);
    const RunId run = RunId::of(report.id);
    if (state == RecoveredContainer::State::kNone || run.container >= newest_.size()) return;
    Start& newest = newest_[run.container];
    if (newest.state != RecoveredContainer::State::kNone && report.id < newest.report.id) return;
    newest = {.state = state, .report = std::move(report)};
}

}  // namespace muster::runtime
