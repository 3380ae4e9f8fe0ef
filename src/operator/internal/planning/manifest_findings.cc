#include "operator/internal/planning/manifest_findings.h"

#include <fmt/format.h>

#include "kube/values/time.h"
#include "operator/internal/planning/conditions.h"
#include "operator/internal/planning/limits.h"

namespace muster::operators {
namespace {

std::string text_of(const Cause& cause) {
    return cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
}

/// Upstream's reason if it has such an event.
std::string reason_of(const Cause& warning) {
    if (warning.field.ends_with(".template.spec.restartPolicy"))
        return "SetPodTemplateRestartPolicy";
    if (warning.field.ends_with(".template.spec.schedulerName"))
        return "SetPodTemplateSchedulerName";
    return warning.reason;
}

}  // namespace

std::vector<JobEvent> warning_events(const std::vector<Cause>& warnings) {
    std::vector<JobEvent> events;
    for (const Cause& warning : warnings)
        events.push_back({kube::EventType::kWarning, reason_of(warning), text_of(warning)});
    return events;
}

Plan plan_invalid(const JobRecord& record, const jobs::JobStatus& status, const Error& why,
                  WallTime now) {
    Plan plan;
    if (status.finished()) return plan;
    const std::string& kind = record.kind->resource.kind;
    const std::string& prefix = record.kind->condition_prefix();
    std::string message;
    for (const Cause& cause : why.causes())
        message += (message.empty() ? "" : "; ") + text_of(cause);
    if (message.empty()) message = why.message();
    if (!status.start_time.empty()) {
        plan.events.push_back(
            {kube::EventType::kWarning, prefix + "FailedValidation",
             fmt::format("the edit of {} {} is not in effect, its pods stay as they are: {}", kind,
                         record.name, message)});
        return plan;
    }
    jobs::JobStatus next = status;
    set_condition(next,
                  {.type = conditions::kCreated,
                   .reason = prefix + "Created",
                   .message = fmt::format("{} {} is created.", kind, record.name)},
                  now);
    message = fmt::format("{} {} can't be run: {}. Correct the manifest and create the job again.",
                          kind, record.name, message);
    set_condition(
        next,
        {.type = conditions::kFailed, .reason = prefix + "FailedValidation", .message = message},
        now);
    next.completion_time = kube::format_time(whole_second_from(now));
    plan.status = std::move(next);
    plan.events.push_back({kube::EventType::kWarning, prefix + "FailedValidation", message});
    return plan;
}

}  // namespace muster::operators
