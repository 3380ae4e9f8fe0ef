#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/objects/pod.h"

namespace muster::runtime {

/// Writes one pod's status whenever it has changed: one request at a time, changes meanwhile go
/// into the next, equal ones are not written. Retries while the API is away. Thread: the loop.
class StatusWriter {
  public:
    StatusWriter(kube::Client& client, Clock& clock, TaskGroup& tasks, const kube::Pod& pod,
                 std::function<kube::PodStatus()> current);

    void changed();
    /// Returns when the newest status is written, or the object is gone.
    Task<void> flush();

  private:
    Task<void> run();
    Task<void> change_later();

    kube::Client& client_;
    Clock& clock_;
    TaskGroup& tasks_;
    std::string namespace_;
    std::string name_;
    std::string uid_;
    std::function<kube::PodStatus()> current_;
    json::value written_;
    Signal idle_;
    bool dirty_ = false;
    bool running_ = false;
    bool gone_ = false;
};

}  // namespace muster::runtime
