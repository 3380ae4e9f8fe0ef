#include "kube/internal/patch/erase_members.h"

#include <utility>

namespace muster::kube {

void erase_members(json::object& object, const std::unordered_set<std::string_view>& keys) {
    if (keys.empty() || object.empty()) return;
    // Each erase that keeps the order looks at all that comes after.
    if (keys.size() == 1) {
        object.stable_erase(*keys.begin());
        return;
    }
    json::object kept(object.storage());
    kept.reserve(object.size());
    for (auto& entry : object)
        if (!keys.contains(entry.key())) kept.emplace(entry.key(), std::move(entry.value()));
    object = std::move(kept);
}

}  // namespace muster::kube
