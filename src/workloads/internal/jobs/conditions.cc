#include "workloads/internal/jobs/conditions.h"

#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::workloads {

const json::object* condition_of(const json::object& status, std::string_view type) {
    for (const json::object* condition : kube::objects_at(status, "conditions"))
        if (kube::string_at(*condition, "type") == type) return condition;
    return nullptr;
}

bool is_true(const json::object& status, std::string_view type) {
    const json::object* condition = condition_of(status, type);
    return condition != nullptr && kube::string_at(*condition, "status") == "True";
}

bool set_condition(json::object& status, const Condition& condition, WallTime now) {
    const json::object* known = condition_of(status, condition.type);
    if (known == nullptr && condition.status == "False") return false;
    if (known != nullptr && kube::string_at(*known, "status") == condition.status &&
        kube::string_at(*known, "reason") == condition.reason &&
        kube::string_at(*known, "message") == condition.message)
        return false;
    const std::string time = kube::format_time(now);
    json::object made{{"type", condition.type},     {"status", condition.status},
                      {"lastProbeTime", time},      {"lastTransitionTime", time},
                      {"reason", condition.reason}, {"message", condition.message}};
    if (kube::array_at(status, "conditions") == nullptr) status["conditions"].emplace_array();
    json::array& all = status.at("conditions").get_array();
    for (json::value& one : all) {
        const json::object* object = one.if_object();
        if (object != nullptr && kube::string_at(*object, "type") == condition.type) {
            one = std::move(made);
            return true;
        }
    }
    all.push_back(std::move(made));
    return true;
}

}  // namespace muster::workloads
