#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "agent/worker_state.h"
#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "muster_run/hosting/hosted_master.h"
#include "muster_run/hosting/takeover_turn.h"
#include "net/byte_stream.h"
#include "rpc/client.h"

namespace muster::run {

/// Where a node's agent finds the job's master: here while this node hosts it, else elsewhere. The
/// node hosts it when no master answers and it is its turn. What differs between real nodes and
/// simulated ones is given from outside.
///
/// Owns the master that it hosts. stop(), then destroy. Thread: the loop.
class MasterSeat {
  public:
    struct Ways {
        rpc::Client::Connect elsewhere;
        /// A master for this node, not started, at that endpoint if the job has any. Null: another
        /// agent of this machine is there.
        std::function<Result<std::unique_ptr<HostedMaster>>(std::optional<std::size_t> endpoint)>
            make;
        /// Told why a master that was here is the job's no more without the job having ended.
        std::function<void(const Error&)> ended;
    };

    /// The clock outlives this.
    MasterSeat(Clock& clock, Ways ways, TakeoverTurn turn);

    /// From now on, at that endpoint, if the job has any. False: another agent of this machine is
    /// there.
    Result<bool> host(std::optional<std::size_t> endpoint, HostedMaster::Start start,
                      HostedMaster::Heard heard);
    /// A connection to the master that there is, here or elsewhere.
    Task<Result<std::unique_ptr<net::ByteStream>>> reach();
    /// After a reach() that failed, with its error: hosts the master and connects to it if it is
    /// this node's turn; otherwise that error. `agent` is looked at before anything waits.
    Task<Result<std::unique_ptr<net::ByteStream>>> take_over(const agent::WorkerState& agent,
                                                             Error unreachable);

    const TakeoverTurn& turn() const { return turn_; }
    /// What this node may host is known better.
    void has_candidates(std::vector<std::size_t> candidates) {
        turn_.has_candidates(std::move(candidates));
    }
    /// Null: none was ever here.
    HostedMaster* hosted() const { return hosted_.get(); }

    /// While a master is here: returns when the job has ended and its agents know, or the master
    /// has.
    Task<void> join();
    Task<void> stop();

  private:
    Clock& clock_;
    Ways ways_;
    TakeoverTurn turn_;
    std::unique_ptr<HostedMaster> hosted_;
};

}  // namespace muster::run
