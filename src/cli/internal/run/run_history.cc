#include "cli/internal/run/run_history.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::cli {

namespace {

const ContainerView* same_container(const PodView* pod, const ContainerView& like) {
    if (pod == nullptr) return nullptr;
    for (const ContainerView& container : pod->containers)
        if (container.name == like.name && container.init == like.init) return &container;
    return nullptr;
}

/// A pod whose last state is a failure: no restart made up for it.
bool ended_badly(const PodView& pod) {
    if (pod.phase == "Failed") return true;
    return std::ranges::any_of(pod.containers, [](const ContainerView& container) {
        bool failing = container.terminated && container.terminated->exit_code != 0;
        return failing || container.waiting_reason == "CrashLoopBackOff";
    });
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
    record.last = *after;
}

void RunHistory::note_failures(PodRecord& record, const PodView* before, const PodView& after) {
    if (after.deleting) return;
    auto note = [&](const std::string& container, std::optional<TerminationView> termination,
                    std::string reason) {
        Failure failure{after.uid, after.name, container, std::move(termination),
                        std::move(reason)};
        record.failures.push_back(failure);
        order_.emplace_back(after.uid, std::move(failure));
    };
    for (const ContainerView& now : after.containers) {
        const ContainerView* then = same_container(before, now);
        // The end of an instance appears first as the state, then as the last state of the next
        // one.
        bool seen = then != nullptr && then->terminated && then->terminated == now.last_terminated;
        int restarts_before = then == nullptr ? 0 : then->restarts;
        if (now.restarts > restarts_before && !seen && now.last_terminated &&
            now.last_terminated->exit_code != 0)
            note(now.name, now.last_terminated, {});
        bool was_terminated = then != nullptr && then->terminated && then->restarts == now.restarts;
        if (now.terminated && !was_terminated && now.terminated->exit_code != 0)
            note(now.name, now.terminated, {});
    }
    bool failed_now = after.phase == "Failed" && (before == nullptr || before->phase != "Failed");
    bool by_container = std::ranges::any_of(after.containers, [](const ContainerView& container) {
        return container.terminated && container.terminated->exit_code != 0;
    });
    if (!failed_now) return;
    std::string reason = after.reason;
    if (!after.message.empty()) reason += (reason.empty() ? "" : ": ") + after.message;
    if (!by_container) return note({}, std::nullopt, reason);
    // The node ended them (a deadline, an eviction), which their exit codes do not show.
    for (Failure& failure : record.failures) failure.reason = reason;
    for (auto& [uid, failure] : order_)
        if (uid == after.uid) failure.reason = reason;
}

void RunHistory::event_changed(const EventView& event) {
    if (event.warning) events_.push_back(event);
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

std::optional<Failure> RunHistory::first_failure(
    const std::function<bool(const PodView&)>& belongs) const {
    const Failure* earliest = nullptr;
    for (const auto& [uid, failure] : order_) {
        const PodView& pod = pods_.at(uid).last;
        if (!belongs(pod)) continue;
        if (ended_badly(pod)) return failure;
        if (earliest == nullptr) earliest = &failure;
    }
    return earliest == nullptr ? std::nullopt : std::optional(*earliest);
}

std::string RunHistory::last_warning(const std::optional<Failure>& failure,
                                     const std::string& owner_uid) const {
    auto last_about = [&](const std::string& uid) {
        std::string text;
        for (const EventView& event : events_)
            if (event.uid == uid) text = fmt::format("{}: {}", event.reason, event.message);
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
    if (verdict.succeeded) return verdict;
    verdict.failure = first_failure([&](const PodView& pod) { return pod.owner_uid == job.uid; });
    verdict.event = last_warning(verdict.failure, job.uid);
    verdict.exit_code = verdict.failure ? verdict.failure->exit_code() : 1;
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
    if (verdict.succeeded) return verdict;
    verdict.failure = first_failure([&](const PodView& other) { return other.uid == pod.uid; });
    verdict.event = last_warning(verdict.failure, pod.uid);
    verdict.exit_code = verdict.failure ? verdict.failure->exit_code() : 1;
    return verdict;
}

namespace {

std::string tell_restarts(const Verdict& verdict) {
    const bool grouped = verdict.group_restarts > 0;
    const int count = grouped ? verdict.group_restarts : verdict.restarts;
    if (count == 0) return "no restarts";
    return fmt::format("{} restart{}{}", count, count == 1 ? "" : "s",
                       grouped ? " of all its pods" : "");
}

}  // namespace

std::vector<Told> tell_verdict(const Verdict& verdict, const std::vector<std::string>& last_lines) {
    std::vector<Told> told;
    Tone tone = verdict.succeeded ? Tone::kGood : Tone::kBad;
    told.push_back({tone, fmt::format("{} {} after {}, {}", verdict.name, verdict.result,
                                      tell_duration(verdict.seconds), tell_restarts(verdict))});
    if (verdict.succeeded) return told;
    if (!verdict.condition.empty()) told.push_back({tone, "  because: " + verdict.condition});
    if (verdict.failure) {
        const Failure& failure = *verdict.failure;
        std::string what = failure.termination ? describe(*failure.termination) : "failed";
        if (!failure.reason.empty()) what += ": " + failure.reason;
        std::string container =
            failure.container.empty() ? "" : fmt::format(", container {}", failure.container);
        told.push_back(
            {tone, fmt::format("  first to fail: pod {}{} {}", failure.pod, container, what)});
    }
    if (!last_lines.empty()) {
        told.push_back({tone, "  its last lines:"});
        for (const std::string& line : last_lines) told.push_back({tone, "    | " + line});
    }
    if (!verdict.event.empty() && verdict.event != verdict.condition)
        told.push_back({tone, "  last warning: " + verdict.event});
    return told;
}

}  // namespace muster::cli
