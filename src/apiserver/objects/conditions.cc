#include "apiserver/objects/conditions.h"

#include "apiserver/objects/json_access.h"
#include "kube/values/time.h"

namespace muster::apiserver {

void set_condition(json::object& object, const Condition& condition, WallTime now) {
    json::value& conditions = ensure_object(object, "status")["conditions"];
    if (!conditions.is_array()) conditions.emplace_array();
    json::object* present = nullptr;
    for (json::value& each : conditions.get_array())
        if (json::object* fields = each.if_object();
            fields != nullptr && string_at(*fields, "type") == condition.type)
            present = fields;
    if (present == nullptr)
        present = &conditions.get_array()
                       .emplace_back(json::object{{"type", condition.type}})
                       .get_object();
    const std::string_view status = condition.is_true ? "True" : "False";
    if (string_at(*present, "status") != status) {
        (*present)["status"] = status;
        (*present)["lastTransitionTime"] = kube::format_time(now);
    }
    (*present)["reason"] = condition.reason;
    (*present)["message"] = condition.message;
}

}  // namespace muster::apiserver
