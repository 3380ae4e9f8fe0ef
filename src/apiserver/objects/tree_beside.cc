#include "apiserver/objects/tree_beside.h"

namespace muster::apiserver {

Task<kube::ObjectPtr> tree_beside(SideThread* side_thread, store::ObjectTextPtr object) {
    const std::size_t bytes = object->text().size();
    if (side_thread == nullptr || bytes < kWorthSideThread || object->tree_in_use() != nullptr)
        co_return object->tree();
    kube::ObjectPtr made = co_await compute_beside(side_thread, "read an object", bytes,
                                                   [object] { return object->own_tree(); });
    co_return object->tree_from(std::move(made));
}

}  // namespace muster::apiserver
