#include "workloads/internal/deployments/deployment_conditions.h"

#include <utility>

#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::workloads {

void remove_condition(json::object& status, std::string_view type) {
    json::array kept;
    for (const json::object* one : kube::objects_at(status, "conditions"))
        if (kube::string_at(*one, "type") != type) kept.push_back(*one);
    if (kept.empty())
        status.erase("conditions");
    else
        status["conditions"] = std::move(kept);
}

void put_condition(json::object& status, json::object condition) {
    remove_condition(status, kube::string_at(condition, "type"));
    if (kube::array_at(status, "conditions") == nullptr) status["conditions"].emplace_array();
    status.at("conditions").get_array().push_back(std::move(condition));
}

void renew_deployment_condition(json::object& status, const Condition& condition, WallTime now) {
    const std::string time = kube::format_time(now);
    std::string since = time;
    const json::object* known = condition_of(status, condition.type);
    if (known != nullptr && kube::string_at(*known, "status") == condition.status)
        since = kube::string_at(*known, "lastTransitionTime");
    put_condition(status, {{"type", condition.type},
                           {"status", condition.status},
                           {"lastUpdateTime", time},
                           {"lastTransitionTime", since},
                           {"reason", condition.reason},
                           {"message", condition.message}});
}

void set_deployment_condition(json::object& status, const Condition& condition, WallTime now) {
    const json::object* known = condition_of(status, condition.type);
    if (known != nullptr && kube::string_at(*known, "status") == condition.status &&
        kube::string_at(*known, "reason") == condition.reason)
        return;
    renew_deployment_condition(status, condition, now);
}

}  // namespace muster::workloads
