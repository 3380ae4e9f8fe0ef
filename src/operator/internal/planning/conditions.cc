#include "operator/internal/planning/conditions.h"

#include <algorithm>

#include "kube/values/time.h"

namespace muster::operators {

bool set_condition(jobs::JobStatus& status, const ConditionChange& change, WallTime now) {
    if (status.finished()) return false;
    std::vector<jobs::JobCondition>& all = status.conditions;
    const std::string wanted = change.status ? "True" : "False";
    jobs::JobCondition next{.type = std::string(change.type),
                            .status = wanted,
                            .reason = change.reason,
                            .message = change.message,
                            .last_update_time = kube::format_time(now),
                            .last_transition_time = kube::format_time(now)};

    auto same_type = std::ranges::find(all, next.type, &jobs::JobCondition::type);
    if (same_type != all.end()) {
        // The reason for being blocked, or incomplete, may change; the others keep their first
        // message, as upstream's do.
        const bool changes =
            change.type == conditions::kBlocked || change.type == conditions::kIncomplete;
        const bool told = !changes || same_type->message == change.message;
        if (same_type->status == wanted && same_type->reason == change.reason && told) return false;
        if (same_type->status == wanted)
            next.last_transition_time = same_type->last_transition_time;
        all.erase(same_type);
    }
    if (change.type == conditions::kRestarting)
        std::erase_if(all, [](const auto& c) { return c.type == conditions::kRunning; });
    if (change.type == conditions::kRunning)
        std::erase_if(all, [](const auto& c) { return c.type == conditions::kRestarting; });
    if (change.type == conditions::kSucceeded || change.type == conditions::kFailed) {
        for (jobs::JobCondition& condition : all)
            if (condition.type == conditions::kRunning) condition.status = "False";
    }
    all.push_back(std::move(next));
    return true;
}

void change_message(jobs::JobStatus& status, std::string_view type, std::string message,
                    WallTime now) {
    const auto found = std::ranges::find(status.conditions, type, &jobs::JobCondition::type);
    if (found == status.conditions.end() || found->message == message) return;
    found->message = std::move(message);
    found->last_update_time = kube::format_time(now);
}

void remove_condition(jobs::JobStatus& status, std::string_view type) {
    std::erase_if(status.conditions,
                  [&](const jobs::JobCondition& condition) { return condition.type == type; });
}

}  // namespace muster::operators
