#include "operator/internal/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/selector.h"
#include "kube/time.h"
#include "operator/internal/conditions.h"

namespace muster::operators {
namespace {

enum class RestartPolicy { kAlways, kOnFailure, kNever, kExitCode };

RestartPolicy restart_policy(const jobs::ReplicaSpec& spec) {
    if (spec.restart_policy == "Always") return RestartPolicy::kAlways;
    if (spec.restart_policy == "OnFailure") return RestartPolicy::kOnFailure;
    if (spec.restart_policy == "ExitCode") return RestartPolicy::kExitCode;
    return RestartPolicy::kNever;
}

/// What the pods of one replica type show.
struct TypeFindings {
    std::string type;
    jobs::ReplicaCounts counts;
    bool replacing = false;  ///< some failed pod is being replaced
    bool newly = false;      ///< and its removal begins now
    bool lost = false;       ///< some failure is final
    bool never = false;      ///< the policy is Never
};

class Planner {
  public:
    Planner(const jobs::Job& job, const jobs::JobStatus& status, const Dependents& dependents,
            WallTime now)
        : job_(job), before_(status), status_(status), dependents_(dependents), now_(now) {}

    Plan run() {
        if (before_.finished()) {
            clean_up();
            return std::move(plan_);
        }
        set(conditions::kCreated, true, "Created",
            fmt::format("{} {} is created.", kind(), job_.metadata.name));
        if (job_.run_policy.suspend.value_or(false)) {
            suspend();
        } else if (status_.is(conditions::kSuspended) && has_pods()) {
            // The pods of before the suspension go first: on their way out they would count as
            // failed replicas of the resumed job.
            erase_all();
        } else {
            resume();
            if (status_.start_time.empty()) begin();
            std::vector<TypeFindings> findings;
            for (const jobs::ReplicaType& type : job_.kind->replica_types)
                if (const jobs::ReplicaSpec* spec = job_.replica(type.name))
                    findings.push_back(visit(type.name, *spec));
            remove_surplus();
            judge(findings);
        }
        if (!same_status()) plan_.status = std::move(status_);
        return std::move(plan_);
    }

  private:
    const std::string& kind() const { return job_.kind->resource.kind; }
    std::string reason(std::string_view suffix) const { return kind() + std::string(suffix); }

    bool set(std::string_view type, bool value, std::string_view suffix, std::string message) {
        return set_condition(status_,
                             {.type = type,
                              .status = value,
                              .reason = reason(suffix),
                              .message = std::move(message)},
                             now_);
    }
    void tell(kube::EventType type, std::string_view suffix, std::string message) {
        plan_.events.push_back({type, reason(suffix), std::move(message)});
    }
    bool same_status() const {
        return status_.conditions == before_.conditions &&
               status_.replica_statuses == before_.replica_statuses &&
               status_.start_time == before_.start_time &&
               status_.completion_time == before_.completion_time;
    }

    bool erase(const PodRecord& pod) {
        if (dependents_.is_going(pod)) return false;
        plan_.delete_pods.push_back({pod.name, pod.uid});
        return true;
    }
    void erase(const ServiceRecord& service) {
        if (!dependents_.is_going(service))
            plan_.delete_services.push_back({service.name, service.uid});
    }
    void erase_all() {
        for (const auto& [replica, slot] : dependents_.slots) {
            for (const PodPtr& pod : slot.pods) erase(*pod);
            if (slot.service) erase(*slot.service);
        }
    }

    bool has_pods() const {
        return std::ranges::any_of(dependents_.slots,
                                   [](const auto& slot) { return !slot.second.pods.empty(); });
    }

    void begin() { status_.start_time = kube::format_time(now_); }

    void clean_up() {
        const std::string& policy = job_.run_policy.clean_pod_policy;
        if (policy.empty() || policy == "None") return;
        if (policy != "Running") return erase_all();
        for (const auto& [replica, slot] : dependents_.slots) {
            bool ended = false;
            for (const PodPtr& pod : slot.pods) {
                if (pod->phase == PodPhase::kSucceeded || pod->phase == PodPhase::kFailed)
                    ended = true;
                else
                    erase(*pod);
            }
            if (slot.service && !ended) erase(*slot.service);
        }
    }

    void suspend() {
        erase_all();
        for (auto& [type, counts] : status_.replica_statuses) counts.active.reset();
        std::string message = fmt::format("{} {} is suspended.", kind(), job_.metadata.name);
        if (status_.is(conditions::kRunning))
            set(conditions::kRunning, false, "Suspended", message);
        if (set(conditions::kSuspended, true, "Suspended", message))
            tell(kube::EventType::kNormal, "Suspended", std::move(message));
    }

    void resume() {
        if (!status_.is(conditions::kSuspended)) return;
        std::string message = fmt::format("{} {} is resumed.", kind(), job_.metadata.name);
        set(conditions::kSuspended, false, "Resumed", message);
        tell(kube::EventType::kNormal, "Resumed", std::move(message));
        begin();
    }

    TypeFindings visit(const std::string& type, const jobs::ReplicaSpec& spec) {
        TypeFindings found{.type = type, .counts = {.wanted = spec.replicas.value_or(0)}};
        const RestartPolicy policy = restart_policy(spec);
        found.never = policy == RestartPolicy::kNever;
        auto slot = dependents_.slots.lower_bound({type, 0});
        for (std::int32_t index = 0; index < found.counts.wanted; ++index) {
            const jobs::ReplicaId replica{type, index};
            const bool exists = slot != dependents_.slots.end() && slot->first == replica;
            if ((!exists || slot->second.pods.empty()) &&
                !dependents_.pods_being_created.contains(replica))
                plan_.create_pods.push_back(replica);
            if (job_.kind->services && (!exists || !slot->second.service) &&
                !dependents_.services_being_created.contains(replica))
                plan_.create_services.push_back(replica);
            if (!exists) continue;
            if (slot->second.pods.size() == 1) count(*slot->second.pods.front(), policy, found);
            ++slot;
        }
        return found;
    }

    void count(const PodRecord& pod, RestartPolicy policy, TypeFindings& found) {
        switch (pod.phase) {
            case PodPhase::kPending:
            case PodPhase::kUnknown:
                return;
            case PodPhase::kSucceeded:
                ++found.counts.succeeded;
                if (pod.replica.index == 0) found.counts.first_succeeded = true;
                return;
            case PodPhase::kRunning:
                if (!pod.deleting) {
                    ++found.counts.active;
                    return;
                }
                // On its way out without an end of its own: upstream counts it as failed since
                // 1.7. Its slot is filled again once the object is gone.
                ++found.counts.failed;
                if (policy == RestartPolicy::kNever) found.lost = true;
                return;
            case PodPhase::kFailed:
                ++found.counts.failed;
                if (policy == RestartPolicy::kNever ||
                    (policy == RestartPolicy::kExitCode && !is_retryable(pod.final_exit_code))) {
                    found.lost = true;
                    return;
                }
                found.replacing = true;
                if (erase(pod)) found.newly = true;
                return;
        }
    }

    /// Replicas beyond the wanted number, and of types that the spec no longer has.
    void remove_surplus() {
        for (const auto& [replica, slot] : dependents_.slots) {
            const jobs::ReplicaSpec* spec = job_.replica(replica.type);
            if (spec != nullptr && replica.index < spec->replicas.value_or(0)) continue;
            for (const PodPtr& pod : slot.pods) erase(*pod);
            if (slot.service) erase(*slot.service);
        }
    }

    void judge(const std::vector<TypeFindings>& findings) {
        std::map<std::string, jobs::ReplicaCounts> counts;
        status_.replica_statuses.clear();
        for (const TypeFindings& found : findings) {
            counts[found.type] = found.counts;
            status_.replica_statuses[found.type] = replica_status(found.type, found.counts);
        }

        // The replicas that decide come first: when they are done, nothing else matters any more.
        const jobs::Deciders deciders = job_.kind->deciders(job_);
        jobs::Verdict verdict =
            jobs::judge(*job_.kind, deciders, job_.metadata.namespace_, job_.metadata.name,
                        counts[job_.kind->replica_types[deciders.type].name]);
        if (verdict.outcome == jobs::Outcome::kSucceeded) return succeed(verdict.message);
        for (const TypeFindings& found : findings)
            if (found.lost) return fail(found);
        bool restarting = false;
        for (const TypeFindings& found : findings) {
            if (found.counts.failed == 0) continue;
            restarting = true;
            restart(found);
        }
        if (!restarting && verdict.outcome == jobs::Outcome::kRunning)
            set(conditions::kRunning, true, "Running", std::move(verdict.message));
    }

    jobs::ReplicaStatus replica_status(const std::string& type,
                                       const jobs::ReplicaCounts& counts) const {
        jobs::ReplicaStatus status;
        if (counts.active > 0) status.active = counts.active;
        if (counts.succeeded > 0) status.succeeded = counts.succeeded;
        if (counts.failed > 0) status.failed = counts.failed;
        if (job_.kind->status_selector) {
            std::map<std::string, std::string> labels =
                jobs::job_labels(*job_.kind, job_.metadata.name);
            labels[std::string(jobs::labels::kReplicaType)] =
                job_.kind->replica_type(type)->lower();
            status.selector = kube::LabelSelector::from_map(labels).to_string();
        }
        return status;
    }

    void end() {
        status_.completion_time = kube::format_time(now_);
        // Nothing is made, and nothing removed, before the end is on record: the next pass cleans
        // up from the status.
        plan_.create_pods.clear();
        plan_.create_services.clear();
        plan_.delete_pods.clear();
        plan_.delete_services.clear();
    }

    void succeed(std::string message) {
        set(conditions::kSucceeded, true, "Succeeded", message);
        tell(kube::EventType::kNormal, "Succeeded", std::move(message));
        for (auto& [type, counts] : status_.replica_statuses) {
            const std::int32_t all = counts.succeeded.value_or(0) + counts.active.value_or(0);
            if (all > 0) counts.succeeded = all;
            counts.active.reset();
        }
        end();
    }

    void fail(const TypeFindings& found) {
        std::string message =
            found.never ? fmt::format("{} {} is failed because {} {} replica(s) failed.", kind(),
                                      job_.metadata.name, found.counts.failed, found.type)
                        : fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                                      job_.metadata.name, found.type);
        set(conditions::kFailed, true, "Failed", message);
        tell(found.never ? kube::EventType::kNormal : kube::EventType::kWarning, "Failed",
             std::move(message));
        end();
    }

    void restart(const TypeFindings& found) {
        std::string message =
            found.replacing
                ? fmt::format("job {} is restarting because {} replica(s) failed.",
                              job_.metadata.name, found.type)
                : fmt::format("{} {} is restarting because {} {} replica(s) failed.", kind(),
                              job_.metadata.name, found.counts.failed, found.type);
        const bool changed = set(conditions::kRestarting, true, "Restarting", message);
        if (changed || found.newly)
            tell(kube::EventType::kWarning, "Restarting", std::move(message));
    }

    const jobs::Job& job_;
    const jobs::JobStatus& before_;
    jobs::JobStatus status_;
    const Dependents& dependents_;
    WallTime now_;
    Plan plan_;
};

std::string text_of(const Cause& cause) {
    return cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
}

}  // namespace

bool is_retryable(std::optional<std::int32_t> exit_code) { return !exit_code || *exit_code >= 128; }

Plan plan(const jobs::Job& job, const jobs::JobStatus& status, const Dependents& dependents,
          WallTime now) {
    return Planner(job, status, dependents, now).run();
}

std::vector<JobEvent> warning_events(const std::vector<Cause>& warnings) {
    std::vector<JobEvent> events;
    for (const Cause& warning : warnings) {
        const bool policy = warning.field.ends_with(".template.spec.restartPolicy");
        events.push_back({kube::EventType::kWarning,
                          policy ? "SetPodTemplateRestartPolicy" : warning.reason,
                          text_of(warning)});
    }
    return events;
}

Plan plan_invalid(const JobRecord& record, const jobs::JobStatus& status, const Error& why,
                  WallTime now) {
    Plan plan;
    if (status.finished()) return plan;
    const std::string& kind = record.kind->resource.kind;
    std::string message;
    for (const Cause& cause : why.causes())
        message += (message.empty() ? "" : "; ") + text_of(cause);
    if (message.empty()) message = why.message();
    if (!status.start_time.empty()) {
        plan.events.push_back(
            {kube::EventType::kWarning, kind + "FailedValidation",
             fmt::format("the edit of {} {} is not in effect, its pods stay as they are: {}", kind,
                         record.metadata.name, message)});
        return plan;
    }
    jobs::JobStatus next = status;
    set_condition(next,
                  {.type = conditions::kCreated,
                   .reason = kind + "Created",
                   .message = fmt::format("{} {} is created.", kind, record.metadata.name)},
                  now);
    message = fmt::format("{} {} can't be run: {}. Correct the manifest and create the job again.",
                          kind, record.metadata.name, message);
    set_condition(
        next,
        {.type = conditions::kFailed, .reason = kind + "FailedValidation", .message = message},
        now);
    next.completion_time = kube::format_time(now);
    plan.status = std::move(next);
    plan.events.push_back({kube::EventType::kWarning, kind + "FailedValidation", message});
    return plan;
}

}  // namespace muster::operators
