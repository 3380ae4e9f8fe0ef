#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "jobs/job.h"
#include "kube/client/reflector.h"
#include "kube/transport/transport.h"
#include "operator/observer/observer.h"

namespace muster::operators {

struct OperatorOptions {
    std::string namespace_;  ///< empty: all namespaces
    /// Of jobs::all_kinds(), by JobKind::resource.kind; empty: all.
    std::vector<std::string> kinds = {};
    int workers = 4;           ///< jobs worked on at a time
    int parallel_writes = 32;  ///< requests in flight for one job
    /// Each pod says how many of its job start together (annotation muster.dev/gang-size), for a
    /// node that places them so. Not for clusters, whose schedulers do not read it.
    bool announce_gangs = false;
    /// How long a change of nothing but the counts of pods may wait for more of its kind, so that a
    /// job of many replicas does not write its status for each of them.
    Duration counts_wait = std::chrono::milliseconds(100);
    /// Who places the pods of a job together: "volcano" in any case, "yunikorn", or the name of a
    /// scheduler with the coscheduling of scheduler-plugins; empty: whom a job's pod templates
    /// name, where the platform is a cluster. (training-operator's --gang-scheduler-name.)
    std::string gang_scheduler_name = {};
    jobs::Platform platform = {};
    /// Ends the process when what was summed up event by event, or the plan made from it, is not
    /// what the caches give at once. For tests and simulations: each look at a job costs a walk
    /// over all pods.
    bool check_consistency = false;
    /// The pods and services of a job that is deleted are deleted by us, all at once. Where the
    /// server's own garbage collector is as fast, it had better be left to that.
    bool removes_dependents = false;
    /// How the lists of jobs, pods and services come.
    kube::Reflector::Lists lists = kube::Reflector::Lists::kPaged;
    OperatorObserver* observer = nullptr;  ///< outlives the operator; null: nobody listens
};

/// A resource whose jobs can't be read: its definition is missing, or we may not.
struct Unserved {
    std::string resource;  ///< "pytorchjobs.kubeflow.org"
    std::string why;       ///< and what to do, for a person

    friend bool operator==(const Unserved&, const Unserved&) = default;
};

/// Brings the pods, services and status of every job to what its manifest says: informers feed a
/// table, a pure planner compares, an executor writes. Level-triggered and crash-only: all state is
/// in the API.
///
/// start() returns once the caches are full; those of kinds that the server does not have, or that
/// we may not read, are filled when that changes. stop() ends all work. Thread: one loop.
class Operator {
  public:
    Operator(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
             OperatorOptions options = {});
    ~Operator();

    Task<Result<void>> start();
    Task<void> stop();

    std::vector<Unserved> unserved() const;
    /// Jobs that want a look now.
    std::size_t queue_depth() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::operators
