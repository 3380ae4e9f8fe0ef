#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "launch/plan.h"
#include "muster_run/hosting/hosted_master.h"
#include "net/memory_stream.h"
#include "sim/elastic/elastic_node.h"
#include "sim/pod_program.h"

namespace muster::sim {

/// A pod of an elastic job and the muster-run in its containers, put together as
/// muster_run/session.cc does it: a real agent, and the job's real master beside it where the pod
/// is the host of the job's endpoint. The workers, the way to the pod and its files are simulated:
/// a master's record lives as long as the containers do, since it lies in their file system.
///
/// kill() and stop order: killed, then the job's graves are joined, close(), destroyed. Thread: one
/// loop.
class ElasticPod {
  public:
    /// What the job does for its pods. All of it outlives them.
    struct Job {
        elastic::ElasticNode::Job nodes;
        /// A connection to what listens at the job's endpoint, wherever that is now.
        rpc::Client::Connect reach_master;
        /// A new, empty file in a container; lives as long as the job does.
        std::function<run::RecordPlace()> new_record;
        std::function<void()> masters_changed;
    };

    /// `machine`: what is wrong with the node that it is on.
    ElasticPod(const Job& job, std::string its_name, std::string address,
               elastic::ElasticNode::Options options, const FaultWindows& machine);
    ~ElasticPod();

    /// None runs. `ended` is told the exit code unless kill() comes first.
    void start(const launch::LaunchPlan& plan, std::function<void(std::int32_t)> ended);
    void terminate();
    void kill(PodProgram::Death death);
    void cut_off(bool so) { node.link.set_machine_cut_off(so); }
    Task<void> close() { return node.link.close(); }

    bool runs() const { return container_ != nullptr; }
    /// Its host's name is that one's.
    bool is_host_of(const launch::Rendezvous& rendezvous) const;
    /// Null: there is none now.
    const run::HostedMaster* master() const;
    /// Another pod's connection to the master here.
    Task<Result<std::unique_ptr<net::ByteStream>>> accept();

    std::string name;
    elastic::ElasticNode node;  ///< by its address
    const FaultWindows& machine;

  private:
    struct Container;

    void begin_to_host();
    std::unique_ptr<run::HostedMaster> make_master(Container& container);
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::weak_ptr<Container> from);
    Task<void> finish(std::shared_ptr<Container> container, agent::AgentEnd end);
    void look_at_end(std::shared_ptr<Container> container, const agent::AgentEnd& end);

    const Job& job_;
    bool was_host_ = false;
    std::shared_ptr<Container> container_;
};

}  // namespace muster::sim
