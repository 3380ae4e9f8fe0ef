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
#include "job_protocol/terms.h"
#include "rpc/client.h"
#include "workers/workers.h"

namespace muster::agent {

/// How an agent is part of its job's network, as it finds it.
struct AgentPlace {
    std::string address = {};                 ///< where its workers and its store can be reached
    std::vector<std::string> addresses = {};  ///< others from which its workers may come
    bool can_host_master = false;             ///< this process can run the job's next master
};

struct AgentOptions {
    std::string token;                            ///< of the job
    std::string incarnation;                      ///< identifies this agent process: Rng::uuid()
    std::optional<job_protocol::Slot> slot = {};  ///< assigned by a flag, if any
    int store_port = 0;
    int check_port = 0;  ///< where it answers probes of a node check; 0: it takes no part
    std::string rack = {};
    std::string name = {};  ///< for people: "worker-3"
    std::string pod =
        {};  ///< the name of the pod that it runs in, and of the pod's node; empty: none
    std::string host = {};
    /// Of the job, as this node was told: for a master that was told none.
    std::optional<job_protocol::Terms> terms = {};
    WorkerStateOptions workers = {};
    rpc::ClientLimits rpc = {};
    /// How long the master may be unreachable before this is logged; repeated every minute.
    Duration say_unreachable = std::chrono::seconds(5);
};

/// What the owner of an agent provides.
struct AgentOwner {
    /// Opens a connection to the job's current master.
    rpc::Client::Connect connect;
    /// The start data of this node's workers, as that member of that world. An error is reported to
    /// the master as a failure to start.
    std::function<Result<std::vector<launch::WorkerStart>>(const job_protocol::World&,
                                                           const job_protocol::Member&)>
        make_workers;
    /// Asked each time that the agent joins, on the connection that was opened last.
    std::function<AgentPlace()> place;
    /// Makes this node's store, emptied, the store of that world. The world lists all of its
    /// members: no other node may connect.
    std::function<void(const job_protocol::World&)> begin_store;
    /// Measures this node while nothing runs on it. Required if check_port is set.
    std::function<Task<job_protocol::CheckResult>(job_protocol::Check)> check = {};
};

/// The agent of one node: keeps a stream to the master, carries out its directives, and reports the
/// state of the node. All decisions are in WorkerState.
///
/// The workers may outlive it: if it is destroyed before they have ended, they continue, and the
/// next agent finds them.
///
/// Clock, rng and workers must outlive it. Destroy it after run() has returned. Thread: the loop of
/// the executor.
class Agent {
  public:
    Agent(const asio::any_io_executor& executor, Clock& clock, Rng& rng, workers::Workers& workers,
          AgentOptions options, AgentOwner owner);
    ~Agent();

    /// Call once. Returns when nothing runs on the node any more and nothing will be started.
    Task<AgentEnd> run();
    /// Takes the node out of the job: ends its workers and tells the master; then run() returns.
    void leave(std::string why);

    /// The keys of the generation whose workers are here, with the newest master known.
    /// kUnavailable if there is no generation. Only until run() returns.
    Result<KvClient> keys();

    const WorkerState& state() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::agent
