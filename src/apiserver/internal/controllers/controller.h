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
    /// It has owners or is being deleted. Computed once for all controllers, as most objects are
    /// neither.
    bool owned_or_deleting = false;
};

/// Acts on changes of the store, as the controllers of the controller manager do. It examines each
/// change immediately; a ControllerQueue carries out the resulting writes in the server's task
/// group. Thread: the server's loop.
class Controller {
  public:
    virtual ~Controller() = default;

    /// Called for each object that existed at the start, to finish what the last run of the server
    /// left undone.
    virtual void recover(const StartingObject& object) = 0;
    /// Called when the server has started, after all calls of recover().
    virtual void started() {}
    /// Called for each committed change, which the cache shows already. `before` is the state that
    /// it replaced, null for a new object.
    virtual void observe(const store::StoreChange& change, const kube::ObjectPtr& before) = 0;
};

/// Whether nothing is left to do: it is done, or it failed for one of these reasons, after which
/// either nothing has to be done or another change will follow.
template <class T>
StatusResult<void> done_unless(StatusResult<T> result, std::initializer_list<Code> expected) {
    if (result || std::ranges::find(expected, result.error().error.code()) != expected.end())
        return {};
    return std::move(result.error());
}

}  // namespace muster::apiserver
