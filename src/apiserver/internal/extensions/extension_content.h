#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/namespaces/namespace_conditions.h"
#include "apiserver/internal/namespaces/outside_content.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Deletes what the servers behind APIServices keep in namespaces that are being deleted, as the
/// namespace controller of Kubernetes does (namespaced_resources_deleter.go). A namespace stays as
/// long as it isn't known what such a server has in it. In a queue of its own, so that a server
/// that does not answer holds up only what needs it. Thread: the server's loop.
class ExtensionContent final : public OutsideContent {
  public:
    ExtensionContent(ServerState& state, Writer& writer);

    void when_gone(std::function<void(std::string namespace_)> gone) override {
        gone_ = std::move(gone);
    }
    bool is_gone(const std::string& namespace_, const std::string& uid) override;

  private:
    /// For the next look at what is left.
    struct Waiting {
        Duration pause{};
        bool asleep = false;
    };

    Task<StatusResult<void>> reconcile(std::string namespace_);
    Task<NamespaceContent> delete_content(std::string namespace_);
    void look_again(std::string namespace_);
    Task<void> add_after(std::string namespace_, Duration pause);

    ServerState& state_;
    Writer& writer_;
    std::function<void(std::string)> gone_;
    std::set<std::string> empty_;             ///< uids of namespaces
    std::map<std::string, Waiting> waiting_;  ///< by namespace
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
