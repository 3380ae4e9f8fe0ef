#include "store/internal/object_tables.h"

namespace muster::store {

std::string describe(const StoreKey& key) {
    return fmt::format("{} \"{}\"", key.resource, key.name);
}

Result<void> check_create(const StoreKey& key, const ObjectState& state) {
    if (state.object != nullptr)
        return Error(Code::kAlreadyExists, describe(key) + " already exists");
    return {};
}

Result<void> check_expected(const StoreKey& key, const ObjectState& state, Revision expected) {
    if (state.object == nullptr) return Error(Code::kNotFound, describe(key) + " not found");
    if (state.revision != expected)
        return Error(Code::kConflict, fmt::format("{} is at revision {}, not {}", describe(key),
                                                  state.revision, expected));
    return {};
}

ObjectState ObjectTables::find(const StoreKey& key) const {
    auto table = tables_.find(key.resource);
    if (table == tables_.end()) return {};
    auto row = table->second.find(RowKey{key.namespace_, key.name});
    return row == table->second.end() ? ObjectState{} : row->second;
}

Result<StoredObject> ObjectTables::get(StoreKey key) const {
    ObjectState state = find(key);
    if (state.object == nullptr) return Error(Code::kNotFound, describe(key) + " not found");
    return StoredObject{std::move(key), state.revision, std::move(state.object)};
}

void ObjectTables::put(const StoreKey& key, Revision revision, ObjectTextPtr object) {
    tables_[key.resource].insert_or_assign(RowKey{key.namespace_, key.name},
                                           ObjectState{revision, std::move(object)});
}

void ObjectTables::erase(const StoreKey& key) {
    auto table = tables_.find(key.resource);
    if (table != tables_.end()) table->second.erase(RowKey{key.namespace_, key.name});
}

std::vector<StoredObject> ObjectTables::list(const std::string& resource,
                                             const std::string& namespace_,
                                             const std::optional<StoreKey>& after,
                                             std::size_t limit) const {
    std::vector<StoredObject> found;
    auto table = tables_.find(resource);
    if (table == tables_.end()) return found;
    auto row = table->second.lower_bound(RowKey{namespace_, ""});
    if (after) {
        auto next = table->second.upper_bound(RowKey{after->namespace_, after->name});
        // `after` may be before the requested namespace.
        if (row == table->second.end() || next == table->second.end() || row->first < next->first)
            row = next;
    }
    for (; row != table->second.end(); ++row) {
        if (!namespace_.empty() && row->first.first != namespace_) break;
        if (limit > 0 && found.size() == limit) break;
        found.push_back({StoreKey{resource, row->first.first, row->first.second},
                         row->second.revision, row->second.object});
    }
    return found;
}

}  // namespace muster::store
