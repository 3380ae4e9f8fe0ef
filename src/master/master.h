#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "master/job.h"
#include "master/node_check/node_check.h"
#include "master/records.h"
#include "master/service/service.h"
#include "master/split_brain.h"
#include "net/byte_stream.h"
#include "net/tls/tls.h"
#include "rpc/server.h"

namespace muster::master {

struct MasterOptions {
    JobOptions job = {};
    /// Nodes are checked before the first world is made.
    std::optional<NodeCheckOptions> node_check = {};
    /// Services besides those that each master has.
    std::vector<ServiceFactory> services = {};
    std::string token;  ///< the job's
    std::string name;   ///< of this life of a master, another for each: Rng::uuid()
    rpc::ServerLimits rpc = {};
    /// How long agents that can't be reached at the job's end may take to come for it.
    Duration farewell = std::chrono::seconds(2);
    /// Between tries to write the job's record.
    Duration record_retry = std::chrono::milliseconds(500);
};

/// The master of a job: claims the next epoch, serves the job's agents, and returns when the job
/// has ended and its agents know. All that it decides is in Job; this moves messages, keeps time
/// and writes records.
///
/// A master that ends without its job having ended (killed, stopped, deposed) disturbs nobody:
/// agents go on, and the next one takes over what they hold.
///
/// Clock and records outlive it. Stop order: run() has returned, or stop(), then destroy. Thread:
/// the loop of the executor.
class Master {
  public:
    Master(const asio::any_io_executor& executor, Clock& clock, Records& records,
           MasterOptions options);
    ~Master();

    /// Before run(); it listens from when the epoch is claimed. `tls` outlives this.
    void listen(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls = nullptr);

    /// kConflict: another master is in charge, or is to be. Errors of the records' claim.
    /// Cancelled, it leaves connections to stop().
    Task<Result<Verdict>> run();
    /// Ends what is left, whatever the state of the job. Not beside run().
    Task<void> stop();

    /// Null until the epoch is claimed.
    const Job* job() const;

    /// What it says of itself to another master of the job.
    MasterClaim claim() const;
    /// Another one is there. If the job is that one's, run() returns.
    void met(const MasterClaim& other);
    /// run() has returned for a new life to go on, which claims an epoch above this one.
    std::optional<std::uint64_t> superseded_by() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::master
