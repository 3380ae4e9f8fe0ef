#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// Defaults and validation of MutatingWebhookConfigurations and ValidatingWebhookConfigurations.
Strategy webhook_strategy();

}  // namespace muster::apiserver
