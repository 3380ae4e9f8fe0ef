#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/test_loop.h"
#include "base/unexpected.h"
#include "master/master.h"
#include "master/memory_records.h"
#include "sim/elastic/elastic_node.h"
#include "sim/elastic/invariants.h"
#include "sim/elastic/watched_records.h"
#include "sim/ledger/ledger.h"

namespace muster::sim::elastic {

/// A job on virtual time: real agents and masters over the real protocol, with simulated cables,
/// workers and records between them, all of which fail when they are told to.
///
/// What a caller makes lives until close(), which comes before the end of the loop.
class ElasticWorld {
  public:
    struct Options {
        master::JobOptions job = {};
        std::optional<master::NodeCheckOptions> node_check = {};
        /// Masters are told nothing of the job: each agent brings what `job` says.
        bool terms_of_nodes = false;
        std::uint64_t seed = 0;
        Duration record_time = std::chrono::milliseconds(1);
        Duration join_timeout = std::chrono::minutes(10);
    };
    using NodeOptions = ElasticNode::Options;
    using Node = ElasticNode;

    ElasticWorld(SimulatedLoop& loop, Options options);
    ~ElasticWorld();

    Node& add_node(NodeOptions options);
    Node& add_node() { return add_node(NodeOptions()); }
    /// One that is there already stays, and does not know: nodes obey it for as long as their
    /// connections to it last.
    void start_master();
    /// kill -9 of the newest: its connections break, nothing of it acts any more.
    void kill_master();
    /// The same of all others.
    void kill_older_masters();
    bool has_master() const { return master_ != nullptr; }
    /// A life that holds its epoch, as far as it knows; null: there is none.
    const master::Job* job() const;

    void start_agent(Node& node);
    /// kill -9 of the agent alone. Its workers end after a second, unless another agent comes.
    void kill_agent(Node& node);
    /// The platform takes the node away.
    void leave(Node& node);
    /// The records fail, now and then, or take long.
    void set_records(master::MemoryRecords::Faults faults, Duration time);
    void heal_records();
    /// The machine and all on it. `silent`: no connection sees an end of it.
    void lose_node(Node& node, bool silent);
    void return_node(Node& node);
    /// The program's work is done on all nodes.
    void finish();
    void close();

    std::size_t live_workers() const;
    /// All live workers are of one attempt, and so many.
    bool runs(std::size_t workers) const;
    /// The first that must not happen; empty: nothing.
    std::string broken() const;
    /// What happened, and when.
    const std::vector<std::pair<Instant, std::string>>& lines() const { return lines_; }
    /// The same, as text.
    std::string trace() const;

    SimulatedLoop& loop;
    Options options;
    Ledger ledger;
    Invariants invariants;
    Rng rng;
    master::MemoryRecords records;
    std::list<Node> nodes;
    std::optional<Result<job_protocol::Verdict>> verdict;  ///< of the last master that returned

  private:
    const UnexpectedEndsProcess unexpected_ends_process_;
    struct MasterLife;

    master::JobOptions options_of_master() const;
    Task<void> run_master(std::shared_ptr<MasterLife> life);
    void kill(std::shared_ptr<MasterLife> life);
    void look_at_masters();
    bool shares_slot(const Node& node) const;
    Task<void> end_without_agent(Node& node, int life);
    Task<void> bury(std::shared_ptr<MasterLife> life);
    void write_down(std::string line);

    std::vector<std::pair<Instant, std::string>> lines_;
    WatchedRecords watched_;
    net::MemoryListener* listener_ = nullptr;
    std::shared_ptr<MasterLife> master_;
    std::list<std::shared_ptr<MasterLife>> older_;
    int masters_ = 0;
    bool is_done_ = false;
    TaskGroup graves_;
    TaskGroup tasks_;
};

}  // namespace muster::sim::elastic
