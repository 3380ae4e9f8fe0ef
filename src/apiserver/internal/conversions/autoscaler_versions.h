#pragma once

#include <boost/json/object.hpp>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// A horizontal pod autoscaler is stored as autoscaling/v2. autoscaling/v1 knows only one metric,
// CPU use; everything else is kept in an annotation, so that a client of v1 that reads, changes and
// writes an object loses nothing. Pure.

extern const VersionConversion kAutoscalerConversion;    ///< of autoscaling/v2
extern const VersionConversion kAutoscalerV1Conversion;  ///< of autoscaling/v1

/// The default of v2: one metric, 80 % of the CPU.
void set_autoscaler_defaults(json::object& autoscaler);

}  // namespace muster::apiserver
