#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/kv_client.h"
#include "agent/worker_state.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "rpc/client.h"
#include "workers/workers.h"

namespace muster::agent {

struct AgentOptions {
    std::string token;                            ///< the job's
    std::string incarnation;                      ///< of this life of an agent: Rng::uuid()
    std::optional<job_protocol::Slot> slot = {};  ///< that it was given
    std::string address;                          ///< where its workers and its store are reached
    int store_port = 0;
    int check_port = 0;  ///< at which probes of a node check are answered; 0: it takes no part
    bool can_host_master = false;  ///< the job's next master may be in its process
    std::string rack = {};
    std::string name = {};  ///< for people: "worker-3"
    WorkerStateOptions workers = {};
    rpc::ClientLimits rpc = {};
    /// Without a master, then it says so, and again after each minute.
    Duration say_unreachable = std::chrono::seconds(5);
};

/// What an agent's owner does for it.
struct AgentOwner {
    /// A connection to the job's master, whoever it is now.
    rpc::Client::Connect connect;
    /// What the workers of the node are started with as that member of that world. An error is
    /// told to the master as a failure to start.
    std::function<Result<std::vector<launch::WorkerStart>>(const job_protocol::World&,
                                                           const job_protocol::Member&)>
        make_workers;
    /// The store of this node is that of the world from now on, and empty. The world has all of its
    /// members: nobody else may connect.
    std::function<void(const job_protocol::World&)> begin_store;
    /// Measures this node, while nothing runs on it. Wanted with a check_port.
    std::function<Task<job_protocol::CheckResult>(job_protocol::Check)> check = {};
};

/// The agent of one node: holds a stream to the master, does what its orders say, and tells it what
/// is so here. All that it decides is in WorkerState.
///
/// The workers may outlive it: when it is destroyed without having ended they go on, and the next
/// agent finds them.
///
/// Clock, rng and workers outlive it; run() has returned before it is destroyed. Thread: the loop
/// of the executor.
class Agent {
  public:
    Agent(const asio::any_io_executor& executor, Clock& clock, Rng& rng, workers::Workers& workers,
          AgentOptions options, AgentOwner owner);
    ~Agent();

    /// Once. Returns when nothing of the node runs any more and nothing will.
    Task<AgentEnd> run();
    /// The node is taken away: its workers end, the master is told, run() returns.
    void leave(std::string why);

    /// The keys of the generation whose workers are here, with the newest master that was heard of.
    /// kUnavailable: there are none. While run() has not returned.
    Result<KvClient> keys();

    const WorkerState& state() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::agent
