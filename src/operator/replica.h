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
    /// Where replicas elect a leader; unset: this one works without an election.
    std::optional<kube::Leadership::Options> election;
    kube::MeteredTransport::Seen on_request;  ///< may be empty
    std::function<void()> on_filled = {};     ///< called when the caches are full; may be empty
};

/// The current requests, for metrics.
struct RequestsNow {
    int window = 0;
    int in_flight = 0;
    std::size_t waiting = 0;
};

/// One of the replicas of a cluster's operator: runs an operator each time that this process leads,
/// for as long as it leads. A process that loses leadership stops its operator and becomes a
/// candidate again; what the operator had in memory only saved requests.
///
///     server ─ metered ─┬─ leadership
///                       └─ leader's alone ─ flow control ─ operator
///
/// The Lease bypasses the window of requests, so that a busy operator does not lose it. Refers to
/// all its arguments. Thread: the loop.
class Replica {
  public:
    Replica(asio::any_io_executor executor, kube::Transport& server, Clock& clock, Rng& rng,
            ReplicaOptions options);
    ~Replica();

    /// Works until it is cancelled; then call stop().
    Task<void> run();
    /// Ends all work, then lets another replica take over immediately. An error means that the
    /// other one has to wait until the lease expires.
    Task<Result<void>> stop();

    /// Why it is not ready; empty if it is: it works, or waits for leadership.
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
