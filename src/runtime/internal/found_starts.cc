#include "runtime/internal/found_starts.h"

#include <utility>

#include "runtime/internal/run_id.h"

namespace muster::runtime {

namespace {

FoundContainer::State state_after(Report::Kind kind) {
    switch (kind) {
        case Report::Kind::kStarting:
            return FoundContainer::State::kStarting;
        case Report::Kind::kStarted:
            return FoundContainer::State::kRunning;
        case Report::Kind::kExited:
            return FoundContainer::State::kEnded;
        case Report::Kind::kStartFailed:
            return FoundContainer::State::kFailed;
        case Report::Kind::kReady:
        case Report::Kind::kSetupFailed:
        case Report::Kind::kExecEnded:
        case Report::Kind::kTerminal:
        case Report::Kind::kTold:
            break;
    }
    return FoundContainer::State::kNone;
}

}  // namespace

void FoundStarts::take(Report report) {
    const FoundContainer::State state = state_after(report.kind);
    const RunId run = RunId::of(report.id);
    if (state == FoundContainer::State::kNone || run.container >= newest_.size()) return;
    Start& newest = newest_[run.container];
    if (newest.state != FoundContainer::State::kNone && report.id < newest.report.id) return;
    newest = {.state = state, .report = std::move(report)};
}

}  // namespace muster::runtime
