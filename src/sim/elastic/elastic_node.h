#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/agent.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "sim/elastic/invariants.h"
#include "sim/elastic/simulated_link.h"
#include "sim/elastic/simulated_workers.h"
#include "sim/ledger/fault_windows.h"

namespace muster::sim::elastic {

/// One node of a simulated elastic job, a machine or a pod: its workers, the way to it, what was
/// wrong with both, and the agent that is on it now. Thread: one loop.
class ElasticNode {
  public:
    /// What the nodes of a job have in common, and what outlives them.
    struct Job {
        asio::any_io_executor executor;
        Clock& clock;
        Rng& rng;
        Invariants& invariants;
        TaskGroup& graves;  ///< where what was killed ends
    };
    struct Options {
        int local_size = 1;
        std::optional<job_protocol::Slot> slot = {};
        std::string rack = {};
        SimulatedWorkers::Times times = {};
        /// What its node check finds, and when; without it the node takes no part in one.
        std::function<Task<job_protocol::CheckResult>(job_protocol::Check)> check = {};
    };
    /// One life of an agent, and what its owner does for it.
    struct AgentStart {
        agent::AgentOptions options = {};  ///< but what the node itself says
        rpc::Client::Connect connect;
        bool can_host_master = false;
        std::function<bool()> may_be_excluded = {};  ///< empty: never
        /// It ended by itself, and nothing of it is left.
        std::function<void(const agent::AgentEnd&)> ended = {};
    };

    ElasticNode(Job job, std::string its_name, Options given);

    /// None is there.
    void start_agent(AgentStart given);
    /// kill -9 of the agent alone: its connections break, and nothing of it acts any more. False:
    /// none is there.
    bool kill_agent();
    /// The platform takes the node away.
    void leave(std::string why);

    struct Life {
        Life(const asio::any_io_executor& executor, SimulatedWorkers& its_workers, Instant now)
            : workers(executor, its_workers), tasks(executor), began(now) {}
        WorkersOfOneLife workers;
        std::unique_ptr<agent::Agent> agent;
        TaskGroup tasks;
        Instant began;
    };

    std::string name;
    Options options;
    FaultWindows fault_windows;
    SimulatedWorkers workers;
    SimulatedLink link;
    std::shared_ptr<Life> agent;  ///< null: none
    int lives = 0;
    std::optional<agent::AgentEnd> end;  ///< of the last agent that ended by itself
    bool has_power = true;

  private:
    Task<void> run(std::shared_ptr<Life> life, Duration join_timeout,
                   std::function<bool()> may_be_excluded,
                   std::function<void(const agent::AgentEnd&)> ended);

    Job job_;
};

}  // namespace muster::sim::elastic
