#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "base/time/clock.h"
#include "workloads/internal/jobs/conditions.h"

namespace muster::workloads {

/// Sets a condition of a Deployment's status. One with the same status and reason stays as it is; the
/// time of the last transition changes with the status only.
void set_deployment_condition(json::object& status, const Condition& condition, WallTime now);
/// The same, with the present time as that of the last update even if nothing else has changed.
void renew_deployment_condition(json::object& status, const Condition& condition, WallTime now);
/// Puts a whole condition in the place of the one of its type.
void put_condition(json::object& status, json::object condition);
void remove_condition(json::object& status, std::string_view type);

}  // namespace muster::workloads
