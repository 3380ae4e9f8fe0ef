#pragma once

#include <set>
#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Keeps an APIService for each version that this server serves itself: of its own kinds one that is
/// looked at once after the start, of definitions one that comes and goes with them. What does not
/// have the label kube-aggregator.kubernetes.io/automanaged is left alone.
class RegistrationController final : public Controller {
  public:
    RegistrationController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void started() override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    Task<StatusResult<void>> reconcile(std::string name);
    Task<StatusResult<void>> create(json::object wanted);
    Task<StatusResult<void>> change(std::string name, json::object wanted);
    Task<StatusResult<void>> remove(std::string name, std::string uid);

    ServerState& state_;
    Writer& writer_;
    std::set<std::string> at_start_;  ///< which there were
    std::set<std::string> synced_;    ///< of the server's own kinds: they are looked at once
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
