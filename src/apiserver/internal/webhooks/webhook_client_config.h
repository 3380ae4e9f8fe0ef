#pragma once

#include <string>

#include "apiserver/objects/field_errors.h"
#include "apiserver/webhook_caller.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// Where a clientConfig that was checked leads to.
WebhookEndpoint endpoint_of(const json::object& config);

/// Checks a clientConfig at `field`: that of a webhook, or of a definition's conversion. Upstream:
/// k8s.io/apiserver v0.33, pkg/util/webhook/validation.go.
void check_client_config(const json::object& config, const std::string& field,
                         FieldErrors& field_errors);

}  // namespace muster::apiserver
