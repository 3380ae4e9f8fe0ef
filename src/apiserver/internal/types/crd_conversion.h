#pragma once

#include "apiserver/objects/field_errors.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// Defaults of a definition's spec.conversion.
void set_conversion_defaults(json::value& conversion);
/// What is wrong with it. Upstream: k8s.io/apiextensions-apiserver v0.33,
/// pkg/apis/apiextensions/validation.
void check_conversion(const json::object& crd, FieldErrors& field_errors);

}  // namespace muster::apiserver
