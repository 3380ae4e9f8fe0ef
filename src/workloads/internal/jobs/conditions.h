#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::workloads {

struct Condition {
    std::string_view type;
    std::string_view status;  ///< "True", "False", "Unknown"
    std::string_view reason;
    std::string_view message;
};

/// The condition of that type; null if there is none.
const json::object* condition_of(const json::object& status, std::string_view type);
bool is_true(const json::object& status, std::string_view type);
/// Puts the condition into a Job's status; false if it is there already. One that is not there does
/// not become "False".
bool set_condition(json::object& status, const Condition& condition, WallTime now);

}  // namespace muster::workloads
