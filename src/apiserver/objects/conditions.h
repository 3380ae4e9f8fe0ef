#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// One of the conditions in an object's status, which is true or false.
struct Condition {
    std::string_view type;
    bool is_true = false;
    std::string_view reason;
    std::string message;
};

/// Sets the condition of that type. Its time changes only with its status.
void set_condition(json::object& object, const Condition& condition, WallTime now);

}  // namespace muster::apiserver
