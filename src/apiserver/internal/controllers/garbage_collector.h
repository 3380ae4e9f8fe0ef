#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Deletes objects that have lost all of their owners, and carries out foreground and orphan
/// deletion, as the garbage collector of the controller manager does. It follows the store's
/// changes with an index by the owner's uid, so its work is proportional to what changed.
class GarbageCollector final : public Controller {
  public:
    GarbageCollector(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    enum class OwnerState {
        kAlive,  ///< or of a kind that is not served, and so unknown
        kAbsent,
        kWaiting,  ///< being deleted in the foreground
    };
    struct Dependents {
        std::map<store::StoreKey, bool> blocking;  ///< for each: does it block the owner's deletion
        std::size_t blocking_count = 0;
    };

    OwnerState owner_state(const json::object& reference, const std::string& namespace_) const;
    void index(const store::StoreKey& key, const json::object& object);
    void unindex(const store::StoreKey& key, const json::object& object);
    void add_waiting_owners(const store::StoreKey& key, const json::object& object);
    void remember_gone(std::string uid);

    Task<StatusResult<void>> reconcile(store::StoreKey key);
    Task<StatusResult<void>> collect(store::StoreKey key, kube::ObjectPtr object);
    Task<StatusResult<void>> finish_foreground(store::StoreKey key, kube::ObjectPtr object);
    Task<StatusResult<void>> orphan_dependents(store::StoreKey key, kube::ObjectPtr object);
    Task<StatusResult<void>> drop_references(store::StoreKey key, std::set<std::string> owner_uids);
    Task<StatusResult<void>> drop_finalizer(store::StoreKey key, std::string finalizer);
    Task<StatusResult<void>> change(store::StoreKey key,
                                    std::function<void(json::object& metadata)> edit);

    ServerState& state_;
    Writer& writer_;
    std::unordered_map<std::string, Dependents> dependents_;  // by owner uid
    /// Owners that were deleted lately: distinguishes missing ones from those of a kind that is no
    /// longer served.
    std::unordered_set<std::string> gone_;
    std::deque<std::string> gone_order_;
    ControllerQueue<store::StoreKey> queue_;
};

}  // namespace muster::apiserver
