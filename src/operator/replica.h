#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/client/leadership.h"
#include "kube/transport/aimd_window.h"
#include "kube/transport/metered_transport.h"
#include "operator/operator.h"

namespace muster::operators {

struct ReplicaOptions {
    OperatorOptions work;
    kube::RequestLimits limits;
    /// Where replicas choose a leader; none: this one works at once.
    std::optional<kube::Leadership::Options> election;
    kube::MeteredTransport::Seen on_request;  ///< empty: nobody counts
    std::function<void()> on_filled = {};     ///< the caches are full; may be empty
};

/// How requests stand, for metrics.
struct RequestsNow {
    int window = 0;
    int in_flight = 0;
    std::size_t waiting = 0;
};

/// One of the replicas of a cluster's operator: operators one after another, each for as long as
/// this process leads. A process that leads no
/// more stops its operator and is a candidate again; what it had in memory was only to save
/// requests.
///
///     server ─ metered ─┬─ leadership
///                       └─ leader's alone ─ steered ─ operator
///
/// The Lease goes past the window of requests, so that a busy operator does not lose it. Refers to
/// what it was made with. Thread: the loop.
class Replica {
  public:
    Replica(asio::any_io_executor executor, kube::Transport& server, Clock& clock, Rng& rng,
            ReplicaOptions options);
    ~Replica();

    /// Works until it is cancelled. Then stop().
    Task<void> run();
    /// Ends all work, then lets another replica lead at once. An error: that one has to wait for
    /// the lease to end.
    Task<Result<void>> stop();

    /// What keeps it from being ready; empty if nothing does: it works, or waits to lead.
    std::string not_ready() const;
    bool works() const { return phase_ == Phase::kWorks; }
    std::vector<Unserved> unserved() const;
    std::size_t queue_depth() const;
    RequestsNow requests() const;

  private:
    enum class Phase { kStarts, kWaits, kFills, kWorks, kStopped };
    struct Term;

    Task<void> lead();
    Task<void> work(Term& term);
    Task<void> end_term();

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    ReplicaOptions options_;
    TaskGroup tasks_;
    kube::MeteredTransport server_;
    kube::Client client_;
    std::unique_ptr<kube::Leadership> leadership_;
    std::unique_ptr<Term> term_;
    Phase phase_ = Phase::kStarts;
};

}  // namespace muster::operators
