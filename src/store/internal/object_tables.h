#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace muster::store {

/// "pods "a"": a key as a store names it in errors.
std::string describe(const StoreKey& key);

/// The state that a compare-and-set is decided against. `object` null: there is none.
struct ObjectState {
    Revision revision = 0;
    ObjectTextPtr object;
};
/// kAlreadyExists if the key is taken.
Result<void> check_create(const StoreKey& key, const ObjectState& state);
/// kNotFound if it is gone, kConflict if its revision is not `expected`.
Result<void> check_expected(const StoreKey& key, const ObjectState& state, Revision expected);

/// The current objects of a store, by resource and then in key order.
class ObjectTables {
  public:
    ObjectState find(const StoreKey& key) const;
    /// See Store::get().
    Result<StoredObject> get(StoreKey key) const;
    void put(const StoreKey& key, Revision revision, ObjectTextPtr object);
    void erase(const StoreKey& key);
    /// See Store::list().
    std::vector<StoredObject> list(const std::string& resource, const std::string& namespace_,
                                   const std::optional<StoreKey>& after, std::size_t limit) const;

  private:
    using RowKey = std::pair<std::string, std::string>;  // namespace, name
    using Table = std::map<RowKey, ObjectState>;

    std::map<std::string, Table, std::less<>> tables_;
};

}  // namespace muster::store
