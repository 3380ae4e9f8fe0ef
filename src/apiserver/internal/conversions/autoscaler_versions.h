#pragma once

#include <boost/json/object.hpp>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// A horizontal pod autoscaler is stored as autoscaling/v2 has it. autoscaling/v1 knows one metric
// alone, the use of the CPU; what else there is travels in an annotation, so that a client of v1
// that reads, changes and writes an object loses nothing of it. Pure.

extern const VersionConversion kAutoscalerConversion;    ///< of autoscaling/v2
extern const VersionConversion kAutoscalerV1Conversion;  ///< of autoscaling/v1

/// What v2 takes for granted where nothing is said: one metric, 80 % of the CPU.
void set_autoscaler_defaults(json::object& autoscaler);

}  // namespace muster::apiserver
