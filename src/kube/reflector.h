#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "kube/client.h"

namespace muster::kube {

/// The list+watch loop of an informer: lists, watches from the list's revision, resumes from the
/// last revision seen (bookmarks move it too), lists again after 410, and backs off from a server
/// that fails (0.8 s doubled up to 30 s with jitter, as client-go's reflector does).
class Reflector {
  public:
    struct Sink {
        /// A complete list: whatever is not in it is gone.
        std::function<void(std::vector<std::pair<std::string, ObjectPtr>>)> replace;
        std::function<void(const std::string& key, ObjectPtr object)> upsert;
        std::function<void(const std::string& key)> erase;
    };

    Reflector(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
              Sink sink);

    /// Runs until the group stops. Once.
    void start(TaskGroup& tasks);
    bool has_synced() const { return synced_; }
    Task<void> wait_synced();

  private:
    Task<void> run();
    Task<Result<void>> list();
    Task<Result<void>> watch();

    Client& client_;
    Clock& clock_;
    Rng& rng_;
    ResourceType type_;
    ListOptions options_;
    Sink sink_;
    std::string revision_;
    bool synced_ = false;
    std::unique_ptr<Signal> synced_signal_;
};

}  // namespace muster::kube
