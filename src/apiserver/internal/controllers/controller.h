#pragma once

#include <algorithm>
#include <initializer_list>

#include "apiserver/requests/status_error.h"
#include "apiserver/watching/watch_cache.h"
#include "store/store.h"

namespace muster::apiserver {

/// An object that was stored when the server started. All of them are in the cache.
struct StartingObject {
    const store::StoreKey& key;
    const CachedObject& cached;
    /// It has owners or is being deleted. Asked once for all controllers, as most objects are
    /// neither.
    bool owned_or_deleting = false;
};

/// Follows the changes of the store with work of its own, as the controllers of the controller
/// manager do. What it is told it looks through at once; what follows from it is written by a
/// ControllerQueue, in the server's task group. Thread: the server's loop.
class Controller {
  public:
    virtual ~Controller() = default;

    /// Each object that was there at the start: what the last run of the server left undone.
    virtual void recover(const StartingObject& object) = 0;
    /// Each committed change, which the cache shows by then. `before` is the state that it
    /// replaced, null for a new object.
    virtual void observe(const store::StoreChange& change, const kube::ObjectPtr& before) = 0;
};

/// Nothing is left to do: it is done, or failed for one of these reasons, after which there is
/// nothing to do or another change will say so.
template <class T>
StatusResult<void> done_unless(StatusResult<T> result, std::initializer_list<Code> expected) {
    if (result || std::ranges::find(expected, result.error().error.code()) != expected.end())
        return {};
    return std::move(result.error());
}

}  // namespace muster::apiserver
