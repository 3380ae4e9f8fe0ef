#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/internal/change_window.h"
#include "store/internal/object_tables.h"
#include "store/store.h"

namespace muster::store {

/// What the stores have in common: the current objects and the newest changes in memory, and how a
/// write is decided. commit() makes it durable.
class TableStore : public Store {
  public:
    Task<Result<StoredObject>> create(StoreKey key, Make make) final {
        return commit({std::move(key), std::nullopt, false, std::move(make)});
    }
    Task<Result<StoredObject>> update(StoreKey key, Revision expected, Make make) final {
        return commit({std::move(key), expected, false, std::move(make)});
    }
    Task<Result<StoredObject>> remove(StoreKey key, Revision expected, Make make) final {
        return commit({std::move(key), expected, true, std::move(make)});
    }
    Task<Result<StoredObject>> get(StoreKey key) final;
    Task<Result<std::vector<StoredObject>>> list(std::string resource, std::string namespace_,
                                                 std::optional<StoreKey> after,
                                                 std::size_t limit) final;
    void observe(Observer observer) final { observer_ = std::move(observer); }
    StoreHistory history() const final { return window_.history(); }

  protected:
    struct Write {
        StoreKey key;
        std::optional<Revision> expected;  ///< nullopt: the key has to be free
        bool removes = false;
        Make make;
    };

    TableStore(ObjectTables objects, ChangeWindow window)
        : objects_(std::move(objects)), window_(std::move(window)) {}

    /// Decides the write, stores it, and then apply()s it.
    virtual Task<Result<StoredObject>> commit(Write write) = 0;

    /// kAlreadyExists, kNotFound or kConflict if the state does not allow the write.
    static Result<void> check(const Write& write, const ObjectState& before);
    /// The change that an allowed write makes.
    static StoreChange change_of(Write write, const ObjectState& before, Revision revision);
    /// Makes a committed change readable, tells the observer, and remembers the change.
    void apply(const StoreChange& change, ObjectTextPtr before);

    const ObjectTables& objects() const { return objects_; }

  private:
    ObjectTables objects_;  ///< as committed and observed
    ChangeWindow window_;
    Observer observer_;
};

}  // namespace muster::store
