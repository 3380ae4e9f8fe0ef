#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "kube/values/json.h"
#include "store/object_text.h"

namespace muster::store {

/// One counter for the whole store: every committed change gets the next number.
using Revision = std::uint64_t;

/// The key of an object. Ordered as lists are: by resource, namespace, name.
struct StoreKey {
    std::string resource;  ///< "pods", "pytorchjobs.kubeflow.org": kube::ResourceType::qualified()
    std::string namespace_;  ///< empty for cluster-scoped objects
    std::string name;

    friend auto operator<=>(const StoreKey&, const StoreKey&) = default;
};

struct StoredObject {
    StoreKey key;
    Revision revision = 0;  ///< of its last change
    ObjectTextPtr object;
};

/// A committed change, in revision order. `object` null: the object was deleted, and `previous` is
/// its final state, with the revision of the deletion. Otherwise `previous` is the state before,
/// null for a new object.
struct StoreChange {
    StoreKey key;
    Revision revision = 0;
    kube::ObjectPtr object;
    kube::ObjectPtr previous;
    ObjectTextPtr text;  ///< of `object`; for a deletion, of `previous`
};

/// What a store still knows of the past: every change after `floor`, in revision order. A server
/// that starts from the current objects and these changes can serve a watch that resumes from any
/// revision not below the floor.
struct StoreHistory {
    struct Entry {
        std::string resource;  ///< of the object; its name is in the object
        Revision revision = 0;
        bool deleted = false;
        ObjectTextPtr object;  ///< the new state; for a deletion the final one
        ObjectTextPtr before;  ///< the state before the change, also for a deletion; null: none
    };
    Revision floor = 0;
    std::vector<Entry> changes;
};

/// How much of the past is kept, of all resources together. The newest states are not counted.
struct HistoryLimit {
    std::size_t changes = 10'000;
    /// Of the texts of states that have passed. Who may write one object could fill the memory with
    /// them otherwise.
    std::size_t bytes = 128u << 20;
};
/// What a change takes of it: `object` is the new state, or the last one of what was deleted.
std::size_t passed_bytes(const ObjectText* before, const ObjectText& object, bool deleted);

/// Where the embedded API keeps its objects. A write is one compare-and-set. When it returns, its
/// result is committed and has been observed, and so has the write to which it lost a conflict: the
/// server reads from what it observed. Writes get their revisions in the order in which they began;
/// a caller that is cancelled does not undo its write. Thread: the server's loop (an implementation
/// may work elsewhere and come back).
class Store {
  public:
    virtual ~Store() = default;

    /// The revision of the last committed change.
    virtual Revision revision() const = 0;

    /// Makes the stored object from the revision that it will have.
    using Make = std::move_only_function<kube::ObjectPtr(Revision)>;

    /// kAlreadyExists if the key is taken.
    virtual Task<Result<StoredObject>> create(StoreKey key, Make make) = 0;
    /// kNotFound if it is gone, kConflict if its revision is not `expected`.
    virtual Task<Result<StoredObject>> update(StoreKey key, Revision expected, Make make) = 0;
    /// The same for a removal; `make` gives the final state that watchers see. Returns it.
    virtual Task<Result<StoredObject>> remove(StoreKey key, Revision expected, Make make) = 0;

    virtual Task<Result<StoredObject>> get(StoreKey key) = 0;
    /// All objects of a resource (in one namespace unless empty) from `after` (exclusive) on, in
    /// key order, at most `limit` (0: all).
    virtual Task<Result<std::vector<StoredObject>>> list(std::string resource,
                                                         std::string namespace_,
                                                         std::optional<StoreKey> after,
                                                         std::size_t limit) = 0;

    /// Called once for each committed change, in revision order, after it can be read. One
    /// observer.
    using Observer = std::function<void(const StoreChange&)>;
    virtual void observe(Observer observer) = 0;

    virtual StoreHistory history() const = 0;
    /// Returns when every write that began before has been observed or refused.
    virtual Task<void> settled() = 0;

    /// Why writes, or creations only, are refused; reads still work.
    virtual std::optional<Error> failure() const = 0;
    /// Refuses further writes with kUnavailable, and returns when those in progress are answered
    /// and everything that the store held open is closed. Reads still work. May be called again.
    virtual Task<void> stop() = 0;
};

/// Objects in a map: fast, lost with the process.
std::unique_ptr<Store> make_memory_store(HistoryLimit history = {.changes = 0});

}  // namespace muster::store
