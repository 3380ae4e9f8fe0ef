#include "store/internal/table_store.h"

namespace muster::store {

Task<Result<StoredObject>> TableStore::get(StoreKey key) { co_return objects_.get(std::move(key)); }

Task<Result<std::vector<StoredObject>>> TableStore::list(std::string resource,
                                                         std::string namespace_,
                                                         std::optional<StoreKey> after,
                                                         std::size_t limit) {
    co_return objects_.list(resource, namespace_, after, limit);
}

Result<void> TableStore::check(const Write& write, const ObjectState& before) {
    if (!write.expected) return check_create(write.key, before);
    return check_expected(write.key, before, *write.expected);
}

StoreChange TableStore::change_of(Write write, const ObjectState& before, Revision revision) {
    kube::ObjectPtr object = write.make(revision);
    ObjectTextPtr text = ObjectText::of(object);
    if (write.removes)
        return {std::move(write.key), revision, nullptr, std::move(object), std::move(text)};
    kube::ObjectPtr previous = before.object == nullptr ? nullptr : before.object->tree();
    return {std::move(write.key), revision, std::move(object), std::move(previous),
            std::move(text)};
}

void TableStore::apply(const StoreChange& change, ObjectTextPtr before) {
    if (change.object != nullptr)
        objects_.put(change.key, change.revision, change.text);
    else
        objects_.erase(change.key);
    if (observer_) observer_(change);
    window_.add({change.key.resource, change.revision, change.object == nullptr, change.text,
                 std::move(before)});
}

}  // namespace muster::store
