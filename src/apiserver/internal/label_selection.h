#pragma once

#include "kube/json.h"
#include "kube/selector.h"

namespace muster::apiserver {

/// A metav1.LabelSelector (`matchLabels`, `matchExpressions`) that validation has accepted; null
/// and an empty one select everything.
kube::LabelSelector label_selector_of(const json::object* selector);

/// Whether a metadata.labels has what the selector asks for; null: no labels.
bool matches_labels(const kube::LabelSelector& selector, const json::object* labels);

}  // namespace muster::apiserver
