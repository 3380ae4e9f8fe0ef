#include "runtime/internal/lifecycle/recovery.h"

#include <algorithm>

#include "kube/values/time.h"

namespace muster::runtime {

namespace {

using State = ContainerRecord::State;

WallTime time_of(const std::string& text) { return kube::parse_time(text).value_or(WallTime{}); }

std::optional<Termination> termination_of(
    const std::optional<kube::ContainerStateTerminated>& state) {
    if (!state) return std::nullopt;
    Termination end;
    end.exit_code = state->exit_code.value_or(0);
    end.reason = state->reason;
    end.message = state->message;
    end.started_at = time_of(state->started_at);
    end.finished_at = time_of(state->finished_at);
    end.container_id = state->container_id;
    return end;
}

void recover_record(ContainerRecord& record, const kube::ContainerStatus& earlier) {
    record.restarts = earlier.restart_count.value_or(0);
    record.container_id = earlier.container_id;
    record.started = earlier.started.value_or(false);
    record.last = termination_of(earlier.last_state.terminated);
    if (earlier.state.terminated) {
        record.state = State::kTerminated;
        record.terminated = termination_of(earlier.state.terminated);
        record.started_at = record.terminated->started_at;
        record.waiting_reason.clear();
    } else if (earlier.state.running) {
        record.state = State::kRunning;
        record.started_at = time_of(earlier.state.running->started_at);
        record.waiting_reason.clear();
    }
}

bool is_end_of(const std::optional<Termination>& end, const RecoveredContainer& recovered) {
    return end && end->container_id == recovered.container_id;
}

}  // namespace

void recover_facts(PodFacts& facts, const kube::PodStatus& earlier) {
    if (!earlier.start_time.empty()) facts.start_time = time_of(earlier.start_time);
    for (ContainerRecord& record : facts.containers) {
        const auto& statuses =
            record.init ? earlier.init_container_statuses : earlier.container_statuses;
        const auto found = std::ranges::find(statuses, record.name, &kube::ContainerStatus::name);
        if (found != statuses.end()) recover_record(record, *found);
    }
}

bool is_accounted_for(const ContainerRecord& record, const RecoveredContainer& recovered) {
    if (recovered.state == RecoveredContainer::State::kFailed)
        return recovered.launch <= launches_of(record) && record.state != State::kRunning;
    return recovered.state == RecoveredContainer::State::kEnded &&
           (is_end_of(record.terminated, recovered) || is_end_of(record.last, recovered));
}

}  // namespace muster::runtime
