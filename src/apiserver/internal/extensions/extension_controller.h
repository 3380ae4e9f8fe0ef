#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/internal/api_services/availability.h"
#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Follows the APIServices: which of them another server serves, whether that can be reached (their
/// condition Available), and what it says that it serves. Each server is asked by a task of its
/// own, so that one that does not answer holds up no other: when its APIService or its service
/// changes, every 30 seconds, and after a failure again after pauses that grow.
class ExtensionController final : public Controller {
  public:
    ExtensionController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    struct Followed;
    using FollowedPtr = std::shared_ptr<Followed>;

    void follow(const std::string& name, const json::object& api_service);
    void unfollow(const std::string& name);
    /// What there was no room for until one of them was removed.
    void follow_those_left();
    void poke_those_of(const std::string& namespace_, const std::string& service);
    Task<void> watch_over(FollowedPtr followed);
    /// Whether it passed.
    Task<bool> check(FollowedPtr followed);
    /// Nullopt if this server stops before it knows.
    Task<std::optional<Availability>> availability_of(ExtensionServer server);
    Task<void> discover(ExtensionServer server);
    Task<StatusResult<void>> report(std::string name, std::optional<ExtensionServer> server,
                                    Availability is);
    /// Of one that no task watches over.
    Task<StatusResult<void>> reconcile(std::string name);

    ServerState& state_;
    Writer& writer_;
    std::map<std::string, FollowedPtr> followed_;  ///< by the name of the APIService
    bool some_left_ = false;
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
