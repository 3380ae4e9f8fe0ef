#pragma once

#include <optional>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// When an event was written last, as far as it says so itself; nullopt: it does not say. Pure.
std::optional<WallTime> last_write_of(const json::object& event);

/// Removes events when nothing has been written to them for ApiServerOptions::event_ttl, as
/// kube-apiserver does with --event-ttl. No webhook is asked, and no finalizer keeps them.
class EventExpiry final : public Controller {
  public:
    EventExpiry(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    void expire_after(NamespacedName key, WallTime written);
    Task<StatusResult<void>> remove(NamespacedName key);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
