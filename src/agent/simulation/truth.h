#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/simulation/troubles.h"
#include "agent/worker_state.h"
#include "agent/workers.h"
#include "base/clock.h"
#include "master/job.h"
#include "master/records.h"
#include "master/world.h"

namespace muster::agent {

/// What really happened in a simulated job, seen by nobody in it, and what must never happen:
///
/// - two worlds of one generation, or one that may not be made (its size, its ranks);
/// - members of a generation who do not agree on it, or two live holders of one of its ranks;
/// - workers that would find what the world before has stored;
/// - workers that are told to stop although none of their world has died, no node of it had a
///   trouble by which it may be taken for lost, no larger world was made, no workers of another
///   master's world run beside them, no attempt was charged behind which their node had begun anew
///   alone, and the job has not ended;
/// - a charge for what did not happen, two for one attempt, or none where one is due;
/// - an end that changes, that is no end of this job, or after which there is another world;
/// - an agent that ends otherwise than its job, or before its workers.
class Truth {
  public:
    using Attempt = std::pair<master::Generation, int>;

    explicit Truth(const Clock& clock) : clock_(clock) {}

    void say(std::string what);
    void wrong(const std::string& what);

    static std::string name(const master::Generation& generation, int restarts);
    static std::string name(const master::World& world) {
        return name(world.generation, world.restarts);
    }

    // ---- who is looked at

    void of_job(master::JobOptions options) { options_ = std::move(options); }
    /// `troubles` outlives this.
    void of_node(const std::string& node, const Troubles& troubles) { nodes_[node] = &troubles; }
    /// Calls made() with what each master that is there has now.
    void of_masters(std::function<void()> look) { look_at_masters_ = std::move(look); }

    // ---- what happens

    /// The store at an address is empty, and of that attempt.
    void store_began(const std::string& address, const master::World& world);
    /// It goes with its agent.
    void store_ended(const std::string& address) { stores_.erase(address); }
    /// Workers of a node begin, as members of that world.
    void began(const std::string& node, const master::World& world);
    /// The program is not there.
    void not_started(const std::string& node, const master::World& world);
    enum class WorkerEnded { kDone, kDied, kStopped };
    void worker_ended(const std::string& node, const master::World& world, int rank,
                      WorkerEnded how, const std::string& error = "");
    /// An agent stops its workers.
    void stops(const std::string& node, const master::World& world, Duration grace);
    /// The node is to leave the job.
    void leaves(const std::string& node) { leaving_.insert(node); }
    void agent_ended(const std::string& node, const AgentEnd& end);
    /// A master has made it, or taken it over.
    void made(const master::World& world) {
        Made& newest = made_[world.generation];
        newest = {.nodes = world.nodes, .restarts = std::max(newest.restarts, world.restarts)};
    }
    void master_began() { ++masters_; }
    /// A record was written, or read.
    void recorded(const master::JobRecord& record);
    /// The records do not take what they are told, or take long for it.
    Troubles& records() { return records_; }
    /// An older master is there beside the newest: some nodes obey the one, some the other.
    Troubles& masters() { return masters_differ_; }

    // ---- what there is to say of it

    std::size_t worlds() const { return worlds_.size(); }
    const std::optional<master::Verdict>& end() const { return end_; }
    /// The first that must not happen; empty: nothing.
    const std::string& broken() const { return broken_; }
    std::string trace() const;

  private:
    struct Known {
        int nodes = 0;
        int ranks = 0;
        std::map<int, master::Member> members = {};  ///< by group rank
        int masters = 0;                             ///< that there were when it was made
        Instant since = {};
        bool died = false;  ///< a worker, in any of its attempts
    };

    Known& known(const master::World& world);
    void look_at_shape(const master::World& world);
    void look_at_last(const master::World& world);
    void look_at_charges(const master::JobRecord& record);
    void look_at_end(const master::Verdict& end);
    bool was_due(const master::Evidence& cause) const;
    bool has_excuse(const Known& world) const;
    bool was_begun_twice(const master::World& world) const;
    bool may_stop(const master::World& world);

    const Clock& clock_;
    master::JobOptions options_;
    std::map<std::string, const Troubles*> nodes_;
    std::function<void()> look_at_masters_ = [] {};
    Troubles records_;
    Troubles masters_differ_;
    std::vector<std::string> trace_;
    std::string broken_;
    std::map<master::Generation, Known> worlds_;
    struct Made {
        int nodes = 0;
        int restarts = 0;  ///< the newest attempt
    };
    std::map<master::Generation, Made> made_;  ///< what a master had of each
    std::map<std::pair<master::Generation, int>, std::string> holders_;
    std::map<std::string, Attempt> stores_;
    std::map<Attempt, std::set<std::string>> died_;  ///< of what: the errors
    std::map<Attempt, std::set<int>> done_;          ///< ranks
    std::set<std::string> leaving_;
    int masters_ = 0;
    std::vector<master::Incident> charged_;
    std::optional<master::Verdict> end_;
    master::Generation newest_at_end_;
};

}  // namespace muster::agent
