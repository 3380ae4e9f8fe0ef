#pragma once

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// Defaults and validation of policies. Upstream: kubernetes v1.33, pkg/apis/admissionregistration,
// validation/validation.go and v1/defaults.go.

/// Of ValidatingAdmissionPolicies.
Strategy policy_strategy();
/// Of ValidatingAdmissionPolicyBindings.
Strategy policy_binding_strategy();

}  // namespace muster::apiserver
