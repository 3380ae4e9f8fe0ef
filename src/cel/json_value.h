#pragma once

#include <boost/json/value.hpp>

#include "cel/declaration.h"
#include "cel/value.h"
#include "kube/values/json.h"

namespace muster::cel {

/// The value of a part of a document, as its declaration says; without one, as JSON has it (whole
/// numbers are int). Refers to the document and the declaration. A text that its format can't have
/// is the failure of whoever reads it, as upstream: k8s.io/apiserver/pkg/cel/common, values.go.
Outcome value_of(const json::value& document, const Declaration* declaration);

}  // namespace muster::cel
