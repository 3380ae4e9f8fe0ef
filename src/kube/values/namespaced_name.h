#pragma once

#include <compare>
#include <string>

namespace muster::kube {

/// Which object of its type, as client-go's types.NamespacedName. Ordered by namespace, then name.
struct NamespacedName {
    std::string namespace_;  ///< empty for an object of the whole cluster
    std::string name;

    /// "namespace/name"; the name alone without a namespace.
    std::string text() const { return namespace_.empty() ? name : namespace_ + "/" + name; }

    friend auto operator<=>(const NamespacedName&, const NamespacedName&) = default;
};

}  // namespace muster::kube
