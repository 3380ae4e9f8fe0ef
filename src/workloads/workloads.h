#pragma once

#include <memory>

#include "base/async/side_thread.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"

namespace muster::workloads {

/// The controllers of what people apply beside their jobs: batch Jobs, CronJobs, Deployments and
/// ReplicaSets, as kube-controller-manager has them. All state is in the API: another one may continue
/// at any moment.
///
/// start() returns once the objects are known that are watched; stop() ends all work. Thread: one
/// loop.
class Workloads {
  public:
    /// `side_thread`: where large objects are copied and compared; null: on the loop. Outlives this.
    Workloads(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
              SideThread* side_thread = nullptr);
    ~Workloads();

    Task<Result<void>> start();
    Task<void> stop();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace muster::workloads
