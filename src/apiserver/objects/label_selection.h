#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// Reads a metav1.LabelSelector (`matchLabels`, `matchExpressions`); null and an empty one select
/// everything. kBadRequest for invalid keys, values or operators.
Result<kube::LabelSelector> label_selector_of(const json::object* selector);

/// Whether a metadata.labels matches the selector; null: no labels.
bool matches_labels(const kube::LabelSelector& selector, const json::object* labels);
/// Whether the labels of an object do. Reads its text if there is no tree.
bool matches_labels(const kube::LabelSelector& selector, const store::ObjectText& object);

/// The text for an absent value.
inline constexpr std::string_view kNoneText = "<none>";

/// `a=b,c=d` in the order of the keys, or <none>. Null: none.
std::string labels_text(const json::object* labels);
/// A LabelSelector in the form of kubectl's -l.
std::string selector_text(const json::object* selector);
/// A quantity, int-or-string or number as text; "" for null.
std::string scalar_text(const json::value* value);

}  // namespace muster::apiserver
