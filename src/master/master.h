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
    /// If set, nodes are checked before the first world is made.
    std::optional<NodeCheckOptions> node_check = {};
    /// Services in addition to those that every master has.
    std::vector<ServiceFactory> services = {};
    std::string token;  ///< of the job
    std::string name;   ///< identifies this master process: Rng::uuid()
    rpc::ServerLimits rpc = {};
    /// How long agents that can't be reached may take, at the end of the job, to fetch the verdict.
    Duration farewell = std::chrono::seconds(2);
    /// The time between the first attempts to write the job's record; it grows to two seconds.
    Duration record_retry = std::chrono::milliseconds(500);
};

/// The master of a job: claims the next epoch, serves the job's agents, and returns when the job
/// has ended and its agents know it. All decisions are in Job; this class moves messages, keeps
/// time and writes records.
///
/// A master may end before its job (killed, stopped, deposed) without harm: agents continue, and
/// the next master takes over their world.
///
/// Clock and records must outlive it. Stop order: run() returns, or stop(); then destroy. Thread:
/// the loop of the executor.
class Master {
  public:
    Master(const asio::any_io_executor& executor, Clock& clock, Records& records,
           MasterOptions options);
    ~Master();

    /// Before run(); connections are accepted once the epoch is claimed. `tls` must outlive this.
    void listen(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls = nullptr);

    /// kConflict: another master is in charge, or should be. Also errors of Records::claim(). If
    /// cancelled, it leaves connections to stop().
    Task<Result<Verdict>> run();
    /// Ends what is left, whatever the state of the job. Not while run() is running.
    Task<void> stop();

    /// Null until the epoch is claimed.
    const Job* job() const;

    /// What this master tells another master of the job about itself.
    MasterClaim claim() const;
    /// Another master was found. If the job belongs to it, run() returns.
    void met(const MasterClaim& other);
    /// If set, run() has returned so that a new master can claim an epoch above this one.
    std::optional<std::uint64_t> superseded_by() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::master
