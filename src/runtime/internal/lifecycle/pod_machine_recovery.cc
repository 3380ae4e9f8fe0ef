#include <signal.h>

#include <algorithm>

#include "runtime/internal/lifecycle/pod_machine.h"
#include "runtime/internal/lifecycle/recovery.h"

// How a machine begins with a pod that an earlier process had.

namespace muster::runtime {

namespace {

using State = ContainerRecord::State;

bool has_ended(const std::optional<Termination>& end, const RecoveredContainer& found) {
    return end && end->container_id == found.container_id;
}

/// The status tells it already.
bool is_accounted_for(const ContainerRecord& record, const RecoveredContainer& found) {
    if (found.state == RecoveredContainer::State::kFailed)
        return found.launch <= launches_of(record) && record.state != State::kRunning;
    return found.state == RecoveredContainer::State::kEnded &&
           (has_ended(record.terminated, found) || has_ended(record.last, found));
}

}  // namespace

void PodMachine::recall_earlier(const kube::PodStatus& earlier, Now now) {
    recall(facts_, earlier);
    // Its time ran on while nobody looked.
    const Duration before = std::max(now.wall - facts_.start_time, Duration::zero());
    accepted_ = now.mono - before;
    if (active_until_) *active_until_ -= before;
}

void PodMachine::recall_container(std::size_t index, Now now) {
    ContainerRecord& record = facts_.containers[index];
    if (record.state == State::kRunning) {
        Termination end;
        end.exit_code = 128 + SIGKILL;
        end.reason = "ContainerStatusUnknown";
        end.message = "the container was not there any more when muster came back";
        end_container(index, std::move(end), now);
    }
    progress_[index].finished = now.mono;
    progress_[index].counts_as_restart = record.state == State::kWaiting && record.last.has_value();
}

PodActions PodMachine::resume(const kube::PodStatus& earlier, Now now) {
    recall_earlier(earlier, now);
    for (std::size_t i = 0; i < progress_.size(); ++i) recall_container(i, now);
    if (!work_done()) repeat_init_containers();
    return advance(now);
}

PodActions PodMachine::take_over(const kube::PodStatus& earlier,
                                 const std::vector<RecoveredContainer>& found, Now now) {
    recall_earlier(earlier, now);
    sandbox_ = Sandbox::kReady;
    facts_.sandbox_ready = true;
    PodActions actions;
    for (std::size_t i = 0; i < progress_.size(); ++i)
        take_over_container(i, found[i], now, actions);
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

void PodMachine::take_over_container(std::size_t index, const RecoveredContainer& found, Now now,
                                     PodActions& actions) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    if (found.state == RecoveredContainer::State::kNone || is_accounted_for(record, found))
        return recall_container(index, now);

    // Its number says how often it was restarted, whatever the last status had time to tell.
    const bool same = record.state == State::kRunning && record.container_id == found.container_id;
    const auto before = static_cast<int>(found.launch) - 1;
    if (!same) {
        if (record.terminated) record.last = std::move(record.terminated);
        record.terminated.reset();
        record.started_at = now.wall;
    }
    progress.finished = now.mono;
    ++progress.instance;
    record.busy = true;
    if (found.state == RecoveredContainer::State::kStarting ||
        found.state == RecoveredContainer::State::kFailed) {
        // As it was before: the start is counted when it is told.
        record.state = State::kWaiting;
        record.waiting_reason = "ContainerCreating";
        record.restarts = std::max(before - 1, 0);
        progress.stage = Stage::kStarting;
        progress.counts_as_restart = before > 0;
        if (found.state == RecoveredContainer::State::kFailed)
            fail_start(index, found.end.message, now, actions);
        return;
    }
    record.restarts = before;
    record.container_id = found.container_id;
    // What may start after it need not wait for its startup probe again. No postStart hook: it has
    // begun, and nobody knows how far it came.
    progress.was_started |= record.started;
    progress.begun = now.mono;
    begin_running(index);
    if (found.state == RecoveredContainer::State::kEnded) end_container(index, how(found.end), now);
}

}  // namespace muster::runtime
