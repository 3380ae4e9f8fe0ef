#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "base/task_group.h"
#include "jobs/job.h"
#include "kube/transport.h"

namespace muster::operators {

struct OperatorOptions {
    std::string namespace_;    ///< empty: all namespaces
    int workers = 4;           ///< jobs worked on at a time
    int parallel_writes = 32;  ///< requests in flight for one job
    /// Each pod says how many of its job start together (annotation muster.dev/gang-size), for a
    /// node that places them so. Not for clusters, whose schedulers do not read it.
    bool announce_gangs = false;
    jobs::Site site = {};
    /// Ends the process when what was summed up event by event, or the plan made from it, is not
    /// what the caches give at once. For tests and simulations: each look at a job costs a walk
    /// over all pods.
    bool check_sums = false;
};

/// Brings the pods, services and status of every job to what its manifest says: informers feed a
/// table, a pure planner compares, an executor writes. Level-triggered and crash-only: all state is
/// in the API.
///
/// start() returns once the caches are full; stop() ends all work. Thread: one loop.
class Operator {
  public:
    Operator(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
             OperatorOptions options = {});
    ~Operator();

    Task<Result<void>> start();
    Task<void> stop();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::operators
