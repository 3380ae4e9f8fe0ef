#include "cli/internal/run/run_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace muster::cli {

namespace {

/// What a node calls the end of a container for which memory ran out, and its event about the
/// processes that were killed.
constexpr std::string_view kOutOfMemoryEnd = "OOMKilled";
constexpr std::string_view kOutOfMemoryEvent = "OOMKilling";
/// How many containers that were out of memory have lines of their own.
constexpr std::size_t kToldOutOfMemory = 20;

const ContainerView* same_container(const PodView* pod, const ContainerView& like) {
    if (pod == nullptr) return nullptr;
    for (const ContainerView& container : pod->containers)
        if (container.name == like.name && container.init == like.init) return &container;
    return nullptr;
}

/// A container whose last state is a failure: no restart made up for it.
bool is_failing(const ContainerView& container) {
    return (container.terminated && container.terminated->exit_code != 0) || container.backs_off();
}

/// Between two instances a container waits, and the end of the first is its last state.
bool is_between_instances(const ContainerView& container) {
    return container.terminated || container.backs_off();
}

int ended_instances(const ContainerView& container) {
    return container.restarts + (is_between_instances(container) ? 1 : 0);
}

/// How the last instance that ended did so.
const std::optional<TerminationView>& last_end(const ContainerView& container) {
    return container.terminated ? container.terminated : container.last_terminated;
}

bool ended_badly(const PodView& pod) {
    if (pod.finished()) return pod.phase == "Failed";
    return std::ranges::any_of(pod.containers, is_failing);
}

/// Sidecars are stopped when the others have ended, and their status does not matter then.
bool was_stopped_last(const PodView& pod, const ContainerView& container) {
    return container.sidecar && std::ranges::all_of(pod.containers, [](const ContainerView& other) {
               return other.init || other.terminated.has_value();
           });
}

/// The failure that decided how the pod ended: the last one of the job's own container, else of the
/// first container that was not made up for by a restart.
const Failure* deciding(const PodView& pod, const std::vector<Failure>& failures) {
    const Failure* first = nullptr;
    for (const Failure& failure : failures) {
        const auto container =
            std::ranges::find(pod.containers, failure.container, &ContainerView::name);
        if (container == pod.containers.end() || !is_failing(*container)) continue;
        if (container->main) first = &failure;
        if (first == nullptr || first->container == failure.container) first = &failure;
    }
    return first;
}

bool ran_out_of_memory(const std::optional<TerminationView>& end) {
    return end && end->reason == kOutOfMemoryEnd;
}

/// Whether the line about the failure says that memory ran out.
bool tells_of(const std::optional<Failure>& failure, const std::string& pod_uid,
              const std::string& container) {
    return failure && failure->pod_uid == pod_uid && failure->container == container &&
           ran_out_of_memory(failure->termination);
}

}  // namespace

int Failure::exit_code() const {
    if (!termination) return 1;
    if (termination->exit_code != 0) return termination->exit_code;
    return termination->signal == 0 ? 1 : 128 + termination->signal;
}

void RunHistory::pod_changed(const PodView* before, const PodView* after) {
    if (after == nullptr) return;
    if (before != nullptr && before->uid != after->uid) before = nullptr;
    PodRecord& record = pods_[after->uid];
    if (record.last.uid.empty()) uids_[{after->namespace_, after->name}].push_back(after->uid);
    note_failures(record, before, *after);
    for (const ContainerView& container : after->containers)
        if (ran_out_of_memory(container.terminated) || ran_out_of_memory(container.last_terminated))
            note_out_of_memory(after->uid, container.name);
    record.last = *after;
}

void RunHistory::note_out_of_memory(const std::string& pod_uid, const std::string& container) {
    const std::pair<std::string, std::string> where(pod_uid, container);
    if (std::ranges::find(out_of_memory_, where) == out_of_memory_.end())
        out_of_memory_.push_back(where);
}

void RunHistory::note_failures(PodRecord& record, const PodView* before, const PodView& after) {
    if (after.deleting) return;
    auto note = [&](const std::string& container, int instance,
                    std::optional<TerminationView> termination, std::string reason) {
        Failure failure{after.uid,        after.name, container, instance, std::move(termination),
                        std::move(reason)};
        record.failures.push_back(failure);
        if (failure.termination) crash_loops_.note(after, container, *failure.termination);
        order_.emplace_back(after.uid, std::move(failure));
    };
    for (const ContainerView& now : after.containers) {
        const ContainerView* then = same_container(before, now);
        if (was_stopped_last(after, now)) continue;
        // Instances are numbered by the restarts before them. States in between may not be seen.
        const std::optional<TerminationView>& end = last_end(now);
        const int ended_before = then == nullptr ? 0 : ended_instances(*then);
        const int ended = ended_instances(now);
        if (ended <= ended_before || !end || end->exit_code == 0) continue;
        // Of those before the last one only the number is known: that they were restarted says enough.
        for (int unseen = ended_before; unseen + 1 < ended; ++unseen)
            crash_loops_.note(after, now.name, *end);
        note(now.name, ended - 1, end, {});
    }
    bool failed_now = after.phase == "Failed" && (before == nullptr || before->phase != "Failed");
    bool by_container = std::ranges::any_of(after.containers, [](const ContainerView& container) {
        return container.terminated && container.terminated->exit_code != 0;
    });
    if (!failed_now) return;
    const std::string reason = join_reason(after.reason, after.message);
    if (!by_container) return note({}, 0, std::nullopt, reason);
    // The node ended them (a deadline, an eviction), which their exit codes do not show.
    for (Failure& failure : record.failures) failure.reason = reason;
    for (auto& [uid, failure] : order_)
        if (uid == after.uid) failure.reason = reason;
}

void RunHistory::event_changed(const EventView& event) {
    if (event.kind == "Pod" && event.reason == kOutOfMemoryEvent)
        note_out_of_memory(event.uid, event.container);
    else if (event.warning)
        events_.push_back(event);
}

int RunHistory::restarts(const std::string& owner_uid) const {
    int sum = 0;
    for (const auto& [uid, record] : pods_)
        if (record.last.owner_uid == owner_uid) sum += record.last.restarts();
    // A pod that was made again under its name was restarted too.
    for (const auto& [name, uids] : uids_) {
        int of_owner = 0;
        for (const std::string& uid : uids) of_owner += pods_.at(uid).last.owner_uid == owner_uid;
        sum += std::max(0, of_owner - 1);
    }
    return sum;
}

/// The pod that failed first, and in it the container that decided.
void RunHistory::find_failure(Verdict& verdict,
                              const std::function<bool(const PodView&)>& belongs) const {
    for (const auto& [uid, failure] : order_) {
        const PodRecord& record = pods_.at(uid);
        if (!belongs(record.last)) continue;
        if (!verdict.failure) verdict.failure = failure;
        if (!ended_badly(record.last)) continue;
        const Failure* decided = deciding(record.last, record.failures);
        verdict.failure = decided == nullptr ? failure : *decided;
        if (verdict.failure->container != failure.container) verdict.earlier = failure;
        return;
    }
}

void RunHistory::find_out_of_memory(Verdict& verdict,
                                    const std::function<bool(const PodView&)>& belongs) const {
    for (const auto& [uid, container] : out_of_memory_) {
        const auto record = pods_.find(uid);
        if (record == pods_.end() || !belongs(record->second.last)) continue;
        if (tells_of(verdict.failure, uid, container) || tells_of(verdict.earlier, uid, container))
            continue;
        const PodView& pod = record->second.last;
        OutOfMemory found{.pod = pod.name, .container = container, .limit = {}};
        const auto view = std::ranges::find(pod.containers, container, &ContainerView::name);
        if (view != pod.containers.end()) found.limit = view->memory_limit;
        // A pod that was made again may have been out of memory again.
        if (std::ranges::find(verdict.out_of_memory, found) == verdict.out_of_memory.end())
            verdict.out_of_memory.push_back(std::move(found));
    }
}

std::string RunHistory::warning_about(const std::string& uid) const {
    std::string text;
    for (const EventView& event : events_)
        if (event.uid == uid) text = join_reason(event.reason, event.message);
    return text;
}

std::string RunHistory::last_warning(const std::optional<Failure>& failure,
                                     const std::string& owner_uid) const {
    // What a node does not do was told at the start, and a program that failed had begun.
    const auto explains = [&failure](const EventView& event) {
        return !failure || (!repeats_a_state(event) && event.reason != "NotEnforced");
    };
    auto last_about = [&](const std::string& uid) {
        std::string text;
        for (const EventView& event : events_)
            if (event.uid == uid && explains(event))
                text = join_reason(event.reason, event.message);
        return text;
    };
    std::string text = failure ? last_about(failure->pod_uid) : std::string();
    return text.empty() ? last_about(owner_uid) : text;
}

Verdict RunHistory::verdict(const JobView& job) const {
    Verdict verdict;
    verdict.name = fmt::format("{} {}/{}", job.kind, job.namespace_, job.name);
    verdict.succeeded = job.succeeded();
    verdict.result = job.succeeded() ? "succeeded" : job.failed() ? "failed" : "unfinished";
    verdict.restarts = restarts(job.uid);
    verdict.group_restarts = job.group_restarts;
    const ConditionView* condition = job.true_condition(job.succeeded() ? "Succeeded" : "Failed");
    if (condition != nullptr)
        verdict.condition = fmt::format("{}: {}", condition->reason, condition->message);
    const auto belongs = [&job](const PodView& pod) { return pod.owner_uid == job.uid; };
    if (!verdict.succeeded) {
        find_failure(verdict, belongs);
        verdict.event = last_warning(verdict.failure, job.uid);
        verdict.exit_code = verdict.failure ? verdict.failure->exit_code() : 1;
    }
    find_out_of_memory(verdict, belongs);
    return verdict;
}

Verdict RunHistory::verdict(const PodView& pod) const {
    Verdict verdict;
    verdict.name = fmt::format("Pod {}/{}", pod.namespace_, pod.name);
    verdict.succeeded = pod.phase == "Succeeded";
    verdict.result = verdict.succeeded       ? "succeeded"
                     : pod.phase == "Failed" ? "failed"
                                             : "unfinished";
    verdict.restarts = pod.restarts();
    const auto belongs = [&pod](const PodView& other) { return other.uid == pod.uid; };
    if (!verdict.succeeded) {
        find_failure(verdict, belongs);
        verdict.event = last_warning(verdict.failure, pod.uid);
        verdict.exit_code = verdict.failure ? verdict.failure->exit_code() : 1;
    }
    find_out_of_memory(verdict, belongs);
    return verdict;
}

namespace {

std::string tell_failure(const Failure& failure) {
    std::string what = failure.termination ? describe(*failure.termination) : "failed";
    if (!failure.reason.empty()) what += ": " + failure.reason;
    const std::string container =
        failure.container.empty() ? "" : fmt::format(", container {}", failure.container);
    return fmt::format("pod {}{} {}", failure.pod, container, what);
}

std::string tell_restarts(const Verdict& verdict) {
    const bool grouped = verdict.group_restarts > 0;
    const int count = grouped ? verdict.group_restarts : verdict.restarts;
    if (count == 0) return "no restarts";
    return fmt::format("{} restart{}{}", count, count == 1 ? "" : "s",
                       grouped ? " of all its pods" : "");
}

std::vector<Told> tell_out_of_memory(const std::vector<OutOfMemory>& all) {
    std::vector<Told> told;
    for (const OutOfMemory& one : all) {
        if (told.size() == kToldOutOfMemory) {
            told.push_back(
                {Tone::kBad, fmt::format("  out of memory: {} more", all.size() - told.size())});
            break;
        }
        const std::string container =
            one.container.empty() ? "" : fmt::format(", container {}", one.container);
        const std::string limit =
            one.limit.empty() ? "" : fmt::format(" (its limit is {})", one.limit);
        told.push_back(
            {Tone::kBad, fmt::format("  out of memory: pod {}{}{}", one.pod, container, limit)});
    }
    return told;
}

}  // namespace

std::vector<Told> tell_verdict(const Verdict& verdict, const std::vector<std::string>& last_lines) {
    std::vector<Told> told;
    Tone tone = verdict.succeeded ? Tone::kGood : Tone::kBad;
    told.push_back({tone, fmt::format("{} {} after {}, {}", verdict.name, verdict.result,
                                      tell_duration(verdict.seconds), tell_restarts(verdict))});
    std::vector<Told> out_of_memory = tell_out_of_memory(verdict.out_of_memory);
    if (verdict.succeeded) {
        std::ranges::move(out_of_memory, std::back_inserter(told));
        return told;
    }
    if (!verdict.condition.empty()) told.push_back({tone, "  because: " + verdict.condition});
    if (verdict.earlier)
        told.push_back({tone, "  first to fail: " + tell_failure(*verdict.earlier)});
    if (verdict.failure)
        told.push_back(
            {tone, fmt::format("  {}: {}", verdict.earlier ? "decided by" : "first to fail",
                               tell_failure(*verdict.failure))});
    if (!last_lines.empty()) {
        told.push_back({tone, "  its last lines:"});
        for (const std::string& line : last_lines) told.push_back({tone, "    | " + line});
    }
    std::ranges::move(out_of_memory, std::back_inserter(told));
    if (!verdict.event.empty() && verdict.event != verdict.condition)
        told.push_back({tone, "  last warning: " + verdict.event});
    return told;
}

}  // namespace muster::cli
