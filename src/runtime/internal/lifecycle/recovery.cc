#include "runtime/internal/lifecycle/recovery.h"

#include <algorithm>

#include "base/parse_number.h"
#include "kube/objects/codec.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "runtime/internal/lifecycle/crash_backoff.h"

namespace muster::runtime {

namespace {

using State = ContainerRecord::State;

constexpr std::string_view kCrashLoop = "CrashLoopBackOff";
constexpr std::string_view kBackOff = "back-off ";
/// Of the times in a status.
constexpr Duration kPrecisionOfStatus = std::chrono::seconds(1);

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
    } else if (earlier.state.waiting && earlier.state.waiting->reason == kCrashLoop) {
        record.waiting_reason = earlier.state.waiting->reason;
        record.waiting_message = earlier.state.waiting->message;
    }
}

/// "back-off 40s restarting failed container=..."
std::optional<Duration> told_wait(std::string_view message) {
    if (!message.starts_with(kBackOff)) return std::nullopt;
    message.remove_prefix(kBackOff.size());
    const auto seconds = parse_number<std::int32_t>(message.substr(0, message.find('s')));
    if (!seconds) return std::nullopt;
    return std::clamp<Duration>(std::chrono::seconds(*seconds), Duration::zero(),
                                CrashBackoff::kLongest);
}

bool is_end_of(const std::optional<Termination>& end, const RecoveredContainer& recovered) {
    return end && end->container_id == recovered.container_id;
}

}  // namespace

void recover_facts(PodFacts& facts, const kube::PodStatus& earlier) {
    if (!earlier.start_time.empty()) facts.start_time = time_of(earlier.start_time);
    std::vector<kube::ContainerStatus> ephemeral;
    if (const json::array* list = kube::array_at(earlier.rest, kEphemeralStatuses))
        for (const json::value& entry : *list)
            if (auto status = kube::decode<kube::ContainerStatus>(entry))
                ephemeral.push_back(*std::move(status));
    for (ContainerRecord& record : facts.containers) {
        const auto& statuses = record.ephemeral ? ephemeral
                               : record.init    ? earlier.init_container_statuses
                                                : earlier.container_statuses;
        const auto found = std::ranges::find(statuses, record.name, &kube::ContainerStatus::name);
        if (found != statuses.end()) recover_record(record, *found);
    }
}

Duration recovered_wait(const ContainerRecord& record) {
    if (record.state == State::kWaiting)
        return told_wait(record.waiting_message).value_or(Duration::zero());
    if (record.restarts == 0 || !record.last) return Duration::zero();
    const Duration waited = record.started_at - record.last->finished_at + kPrecisionOfStatus;
    Duration wait = CrashBackoff::kFirst;
    for (int restart = 1; restart < record.restarts && wait <= waited; ++restart) {
        if (wait == CrashBackoff::kLongest) break;
        wait = CrashBackoff::after(wait);
    }
    return wait;
}

bool is_accounted_for(const ContainerRecord& record, const RecoveredContainer& recovered) {
    if (recovered.state == RecoveredContainer::State::kFailed)
        return recovered.launch <= launches_of(record) && record.state != State::kRunning;
    return recovered.state == RecoveredContainer::State::kEnded &&
           (is_end_of(record.terminated, recovered) || is_end_of(record.last, recovered));
}

}  // namespace muster::runtime
