#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// Defaults and validation of MutatingWebhookConfigurations and ValidatingWebhookConfigurations. A
/// matchCondition, which is CEL, is refused by name.
KindRules webhook_rules();

}  // namespace muster::apiserver
