#pragma once

#include "base/result.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// Reads a metav1.LabelSelector (`matchLabels`, `matchExpressions`); null and an empty one select
/// everything. kBadRequest for keys, values or operators that can't be.
Result<kube::LabelSelector> label_selector_of(const json::object* selector);

/// Whether a metadata.labels has what the selector asks for; null: no labels.
bool matches_labels(const kube::LabelSelector& selector, const json::object* labels);

}  // namespace muster::apiserver
