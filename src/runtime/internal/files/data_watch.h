#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/async/async.h"
#include "base/async/task_group.h"
#include "kube/client/informer.h"
#include "runtime/internal/files/environment_input.h"
#include "runtime/internal/files/references.h"

namespace muster::runtime {

/// Notifies the users of a ConfigMap or a Secret of changes: one watch of each type for all pods of
/// the node, which stores names and revisions but none of the data. Thread: the loop.
class DataWatch {
  public:
    DataWatch(kube::Client& client, Clock& clock, Rng& rng);

    void start(TaskGroup& tasks);
    /// Returns when every later change will be reported. To be called after start().
    Task<void> wait_synced();

    /// Ends with its handle, which must not outlive the watch.
    class Following;
    /// Calls `changed` after each change of one of these objects, including creation and removal,
    /// as long as the handle exists. `changed` must not end a following.
    [[nodiscard]] std::unique_ptr<Following> follow(const std::string& namespace_,
                                                    const References& references,
                                                    std::function<void()> changed);

  private:
    /// "namespace/name" to its followers.
    using Followers = std::multimap<std::string, Following*, std::less<>>;

    struct Objects {
        Objects(kube::Client& client, Clock& clock, Rng& rng, kube::ResourceType type);
        kube::Informer<std::string> revisions;
        Followers followers;
    };

    Objects config_maps_;
    Objects secrets_;
};

class DataWatch::Following {
  public:
    ~Following();
    Following(const Following&) = delete;
    Following& operator=(const Following&) = delete;

  private:
    friend class DataWatch;
    explicit Following(std::function<void()> changed) : changed_(std::move(changed)) {}
    void add(Followers& followers, const std::string& namespace_,
             const std::set<std::string>& names);

    std::function<void()> changed_;
    std::vector<std::pair<Followers*, Followers::iterator>> places_;
};

}  // namespace muster::runtime
