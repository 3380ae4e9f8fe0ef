#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/async/side_thread.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "jobs/kind.h"
#include "kube/client/reflector.h"
#include "kube/transport/transport.h"
#include "operator/observer/observer.h"

namespace muster::operators {

struct OperatorOptions {
    std::string namespace_;  ///< empty: all namespaces
    /// Of jobs::all_kinds(), by JobKind::resource.kind; empty: all.
    std::vector<std::string> kinds = {};
    /// Served besides those: kinds that exist only here. They outlive the operator.
    std::vector<const jobs::JobKind*> more_kinds = {};
    int workers = 4;           ///< jobs worked on at a time
    int parallel_writes = 32;  ///< requests in flight for one job
    /// Each pod says how many pods of its job start together (annotation muster.dev/gang-size), for
    /// a node that schedules by it. Not for clusters, whose schedulers do not read it.
    bool announce_gangs = false;
    /// How long a change of nothing but pod counts may wait for further ones, so that a job of many
    /// replicas does not write its status for each of them.
    Duration counts_wait = std::chrono::milliseconds(100);
    /// The scheduler that places the pods of a job together: "volcano" (in any case of letters),
    /// "yunikorn", or the name of one with the coscheduling of scheduler-plugins. Empty: the one
    /// that a job's pod templates name, if the platform is a cluster. (training-operator's
    /// --gang-scheduler-name.)
    std::string gang_scheduler_name = {};
    jobs::Platform platform = {};
    /// Ends the process if the incremental totals, or the plan made from them, differ from a
    /// computation from scratch. For tests and simulations: each reconciliation then costs a walk
    /// over all pods.
    bool check_consistency = false;
    /// The operator itself deletes the pods and services of a deleted job, in parallel. If the
    /// server's garbage collector is as fast, leave it to that.
    bool removes_dependents = false;
    /// How the lists of jobs, pods and services arrive.
    kube::Reflector::Lists lists = kube::Reflector::Lists::kPaged;
    OperatorObserver* observer = nullptr;  ///< outlives the operator; may be null
    /// Where large jobs are read and their pods made; null: on the loop. Outlives the operator.
    SideThread* side_thread = nullptr;
};

/// A resource whose jobs can't be read: its definition is missing, or we have no right to.
struct Unserved {
    std::string resource;  ///< "pytorchjobs.kubeflow.org"
    std::string why;       ///< with what to do, for people

    friend bool operator==(const Unserved&, const Unserved&) = default;
};

/// Makes the pods, services and status of every job match its manifest: informers feed a table, a
/// pure planner compares, an executor writes. Level-triggered and crash-only: all state is in the
/// API.
///
/// start() returns once the caches are full; the caches of kinds that the server does not have, or
/// that we may not read, are filled when that changes. stop() ends all work. Thread: one loop.
class Operator {
  public:
    Operator(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
             OperatorOptions options = {});
    ~Operator();

    Task<Result<void>> start();
    Task<void> stop();

    std::vector<Unserved> unserved() const;
    /// Number of jobs that wait to be reconciled.
    std::size_t queue_depth() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::operators
