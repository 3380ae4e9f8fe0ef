#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "master/master.h"
#include "master_process/arguments.h"
#include "muster_run/hosting/hosted_master.h"
#include "sim/elastic/invariants.h"
#include "sim/elastic/simulated_link.h"
#include "sim/internal/programs/api_of_pod.h"
#include "sim/ledger/fault_windows.h"
#include "sim/pod_program.h"

namespace muster::sim {

/// A pod of an elastic job's master and the `muster master` in its container, put together as
/// master_process/run_master.cc does it: a real master that is told nothing of its job but by the
/// agents, with its record in a file of the pod or in the API, as its command says. It ends with 0 or
/// 1 as its job did, with 3 if another master has taken over, and with 143 after SIGTERM.
///
/// kill() and stop order: killed, then the job's graves are joined, close(), destroyed. Thread: one
/// loop.
class MasterPod {
  public:
    /// What the job does for its masters. All of it outlives them.
    struct Job {
        asio::any_io_executor executor;
        Clock& clock;
        Rng& rng;
        elastic::Invariants& invariants;
        TaskGroup& graves;  ///< where what was killed ends
        /// A new, empty file of a pod; lives as long as the job does.
        std::function<run::RecordPlace()> new_record;
        /// A pod's way to the API; empty: there is none.
        std::function<std::shared_ptr<ApiOfPod>()> reach_api;
        std::function<void()> masters_changed;
    };

    MasterPod(const Job& job, std::string its_name, const FaultWindows& machine);
    ~MasterPod();

    /// None runs. `ended` is told the exit code unless kill() comes first.
    void start(const master_process::Arguments& arguments, std::function<void(std::int32_t)> ended);
    void terminate();
    void kill(PodProgram::Death death);
    void cut_off(bool so);
    Task<void> close() { return link.close(); }

    bool runs() const { return container_ != nullptr; }
    /// Null: none is in charge here.
    const master::Job* job() const;
    /// An agent's connection to the master here.
    Task<Result<std::unique_ptr<net::ByteStream>>> accept();

    std::string name;
    const FaultWindows& machine;
    /// Of the way to it. That its machine died is no part of it: the next master is somewhere else.
    FaultWindows fault_windows;
    elastic::SimulatedLink link;

  private:
    struct Container;

    std::unique_ptr<master::Records> open_records(Container& container, std::uint64_t first);
    Task<void> serve(std::shared_ptr<Container> container);
    Task<void> leave(std::shared_ptr<Container> container);
    void bury(std::shared_ptr<Container> container);
    void end(const std::shared_ptr<Container>& container, std::int32_t exit_code);

    const Job& job_;
    run::RecordPlace file_;  ///< once a container has asked for it
    FaultWindows machine_cut_off_;
    std::shared_ptr<Container> container_;
};

}  // namespace muster::sim
