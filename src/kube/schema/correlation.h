#pragma once

#include <string>
#include <unordered_map>

#include "kube/schema/schema.h"

namespace muster::kube {

// Which parts of two states of an object belong together. Upstream: k8s.io/apiserver v0.33,
// pkg/cel/common/equality.go.

/// The elements of a list before a change, found by the keys of their new states. None are found in
/// a list without keys.
class OldElements {
  public:
    /// `before` may be null; it and the schema outlive the object.
    OldElements(const Schema& schema, const json::value* before);
    const json::value* find(const json::value& element) const;

  private:
    std::string key_of(const json::value& element) const;

    const Schema& schema_;
    std::unordered_map<std::string, const json::value*> elements_;
};

/// The state before a change of a field of an object. Null: there was none, or the schema does not
/// know the field.
const json::value* old_field(const Schema& schema, const json::value* before, std::string_view key);

/// Whether a part is what it was, which lets it be wrong as before. Elements with keys may have
/// changed their places; a field that the schema does not know makes a difference.
bool is_unchanged(const Schema& schema, const json::value& now, const json::value& before);

}  // namespace muster::kube
