#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// Defaults and validation of MutatingWebhookConfigurations and ValidatingWebhookConfigurations. A
/// matchCondition, which is CEL, is refused by name.
Strategy webhook_strategy();

}  // namespace muster::apiserver
