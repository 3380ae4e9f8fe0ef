#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// Defaults and validation of APIServices.
Strategy api_service_strategy();

}  // namespace muster::apiserver
