#include "cli/internal/run/event_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace muster::cli {

namespace {

const ContainerView* container_of(const PodView* pod, const std::string& name, bool init) {
    if (pod == nullptr) return nullptr;
    for (const ContainerView& container : pod->containers)
        if (container.name == name && container.init == init) return &container;
    return nullptr;
}

/// "container x " in a pod of several, "" if it is clear.
std::string which(const PodView& pod, const ContainerView& container) {
    if (container.sidecar) return fmt::format("sidecar {} ", container.name);
    if (container.init) return fmt::format("init container {} ", container.name);
    auto count = std::ranges::count(pod.containers, false, &ContainerView::init);
    return count > 1 ? fmt::format("container {} ", container.name) : std::string();
}

/// A wait that ends by itself.
bool is_ordinary_wait(const std::string& reason) {
    return reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing";
}

/// A kubelet that can't pull an image alternates between a try and the wait for the next.
bool is_pull(const std::string& reason) {
    return reason == "ErrImagePull" || reason == "ImagePullBackOff";
}

/// A kubelet's message names the pod and its uid, which the line does already.
std::string brief(const std::string& message) { return message.substr(0, message.find('=')); }

class PodTeller {
  public:
    PodTeller(const PodView* before, const PodView& after) : before_(before), after_(after) {}

    std::vector<Told> tell() {
        if (after_.scheduled && !(before_ != nullptr && before_->scheduled))
            say(Tone::kPlain, "scheduled");
        for (const ContainerView& container : after_.containers)
            if (container.init) tell_container(container);
        if (after_.started() && !(before_ != nullptr && before_->started()))
            say(Tone::kPlain, "started");
        for (const ContainerView& container : after_.containers)
            if (!container.init) tell_container(container);
        if (before_ == nullptr || before_->phase != after_.phase) tell_phase();
        if (after_.deleting && !(before_ != nullptr && before_->deleting) && !after_.finished())
            say(Tone::kPlain, "is being deleted");
        return std::move(told_);
    }

  private:
    void say(Tone tone, std::string_view what) {
        told_.push_back({tone, fmt::format("pod {} {}", after_.name, what)});
    }

    /// A pod that is deleted ends its containers, and their status is not a failure.
    void tell_container(const ContainerView& now) {
        if (after_.deleting) return;
        const ContainerView* then = container_of(before_, now.name, now.init);
        int restarts_before = then == nullptr ? 0 : then->restarts;
        if (now.restarts > restarts_before) {
            std::string why =
                now.last_terminated ? ": it " + describe(*now.last_terminated) : std::string();
            say(Tone::kBad,
                fmt::format("{}restarted (restart {}){}", which(after_, now), now.restarts, why));
        }
        tell_wait(now, then);
        bool ended_now = now.terminated && !(then != nullptr && then->terminated);
        bool several = std::ranges::count(after_.containers, false, &ContainerView::init) > 1;
        if (ended_now && (several || now.init)) {
            bool good = now.terminated->exit_code == 0;
            say(good ? Tone::kPlain : Tone::kBad, which(after_, now) + describe(*now.terminated));
        }
        const bool was_over = before_ != nullptr && then != nullptr && before_->stays_ended(*then);
        if (now.main && after_.stays_ended(now) && !was_over) tell_what_keeps_it();
    }

    void tell_wait(const ContainerView& now, const ContainerView* then) {
        const bool told =
            then != nullptr && is_pull(then->waiting_reason) && is_pull(now.waiting_reason);
        if (!told && !is_ordinary_wait(now.waiting_reason) &&
            (then == nullptr || then->waiting_reason != now.waiting_reason ||
             (then->waiting_message != now.waiting_message && !now.backs_off()))) {
            std::string message =
                now.backs_off() ? brief(now.waiting_message) : now.waiting_message;
            std::string why = message.empty() ? "" : ": " + message;
            say(Tone::kBad,
                fmt::format("{}waits: {}{}", which(after_, now), now.waiting_reason, why));
        }
    }

    /// A pod ends with the last of its containers, and a job with its pods.
    void tell_what_keeps_it() {
        std::vector<std::string> names;
        for (const ContainerView& other : after_.containers)
            if (!other.init && !after_.stays_ended(other)) names.push_back(other.name);
        if (names.empty()) return;
        say(Tone::kBad,
            fmt::format("continues to run, and its job with it, until its container{} {} end{} "
                        "too; a helper that should end with the others is an init container with "
                        "restartPolicy: Always",
                        names.size() == 1 ? "" : "s", fmt::join(names, ", "),
                        names.size() == 1 ? "s" : ""));
    }

    void tell_phase() {
        if (after_.phase == "Succeeded") return say(Tone::kGood, "finished");
        if (after_.phase != "Failed") return;
        if (after_.deleting) return say(Tone::kPlain, "stopped");
        // What the node says of the pod comes before its containers' exit codes.
        if (const ContainerView* cause = failed_container(); cause && after_.reason.empty())
            return say(Tone::kBad, "failed: " + which(after_, *cause) +
                                       (which(after_, *cause).empty() ? "it " : "") +
                                       describe(*cause->terminated));
        const std::string why = join_reason(after_.reason, after_.message);
        say(Tone::kBad, why.empty() ? "failed" : "failed: " + why);
    }

    /// The job's own container before others, and those before init containers: a sidecar is
    /// stopped when the others have ended.
    const ContainerView* failed_container() const {
        const auto rank = [](const ContainerView& container) {
            return container.main ? 0 : container.init ? 2 : 1;
        };
        const ContainerView* found = nullptr;
        for (const ContainerView& container : after_.containers)
            if (container.terminated && container.terminated->exit_code != 0 &&
                (found == nullptr || rank(container) < rank(*found)))
                found = &container;
        return found;
    }

    const PodView* before_;
    const PodView& after_;
    std::vector<Told> told_;
};

}  // namespace

bool repeats_a_state(const EventView& event) {
    if (event.kind == "Pod")
        return event.reason == "BackOff" || event.message == "Error: ErrImagePull" ||
               event.message == "Error: ImagePullBackOff";
    // Of a kind with upstream's reasons: JobFailed, not ElasticJobFailed.
    return event.reason.starts_with(event.kind) || event.reason.starts_with("Job") ||
           event.message.starts_with("Error pod ");
}

std::vector<Told> tell_pod(const PodView* before, const PodView* after) {
    if (after == nullptr) {
        if (before == nullptr || before->finished()) return {};
        return {{Tone::kPlain, fmt::format("pod {} is gone", before->name)}};
    }
    // If the name reappears, it is another pod.
    if (before != nullptr && before->uid != after->uid) before = nullptr;
    return PodTeller(before, *after).tell();
}

std::vector<Told> tell_job(const JobView* before, const JobView* after) {
    std::vector<Told> told;
    if (after == nullptr) return told;
    for (const ConditionView& condition : after->conditions) {
        if (!condition.is_true) continue;
        const ConditionView* then =
            before == nullptr ? nullptr : before->true_condition(condition.type);
        if (then != nullptr && then->message == condition.message) continue;
        Tone tone = condition.type == "Succeeded"                                  ? Tone::kGood
                    : condition.type == "Failed" || condition.type == "Restarting" ? Tone::kBad
                                                                                   : Tone::kPlain;
        told.push_back(
            {tone, fmt::format("job {} {}: {}", after->name, condition.type, condition.message)});
    }
    return told;
}

std::vector<Told> tell_event(const EventView* before, const EventView* after) {
    if (after == nullptr || !after->warning) return {};
    if (before != nullptr && before->message == after->message) return {};
    if (repeats_a_state(*after)) return {};
    std::string kind = after->kind;
    if (!kind.empty()) kind[0] = static_cast<char>(kind[0] | 0x20);
    if (kind != "pod") kind = "job";
    return {{Tone::kBad, fmt::format("{} {}: {}", kind, after->name,
                                     join_reason(after->reason, after->message))}};
}

std::string tell_progress(const JobView& job) {
    CountsView counts = job.counts();
    return fmt::format("{} active, {} succeeded, {} failed", counts.active, counts.succeeded,
                       counts.failed);
}

std::string tell_duration(double seconds) {
    if (seconds < 10) return fmt::format("{:.2f} s", seconds);
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace muster::cli
