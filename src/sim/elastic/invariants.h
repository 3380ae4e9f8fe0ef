#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/worker_state.h"
#include "base/time/clock.h"
#include "job_protocol/world.h"
#include "master/job.h"
#include "master/records.h"
#include "sim/ledger/fault_windows.h"
#include "sim/ledger/ledger.h"
#include "workers/workers.h"

namespace muster::sim::elastic {

/// What really happened in a simulated job, which nothing in it sees, and what must never happen:
///
/// - two worlds of one generation, or one that may not be made (its size, its ranks);
/// - members of a generation who do not agree on it, or two live holders of one of its ranks;
/// - workers that would find what the world before has stored;
/// - workers that are told to stop although none of their world has died, no node of it had a
///   fault by which it may be taken for lost, no larger world was made, no workers of another
///   master's world run beside them, no attempt was charged after which their node had restarted
///   alone, and the job has not ended;
/// - a charge for what did not happen, two for one attempt, more than the budget has, or none where
///   one is due, however many masters there are one after the other;
/// - an end that changes, that is no end of this job, or after which there is another world, unless it
///   is a failure after which the job begins again;
/// - an agent that ends otherwise than its job, or before its workers.
class Invariants {
  public:
    using Attempt = std::pair<job_protocol::Generation, int>;

    /// Both outlive this. `who` is the job, for people.
    Invariants(const Clock& clock, Ledger& ledger, std::string who)
        : clock_(clock), ledger_(ledger), who_(std::move(who)) {}

    void say(std::string what) {
        last_said_ = clock_.now();
        ledger_.say(who_, std::move(what));
    }
    /// `rule`: one of invariant_names().
    void wrong(std::string_view rule, std::string what) {
        ledger_.violated(rule, who_.empty() ? std::move(what) : who_ + ": " + what);
    }

    static std::string name(const job_protocol::Generation& generation, int restarts);
    static std::string name(const job_protocol::World& world) {
        return name(world.generation, world.restarts);
    }

    // ---- who is looked at

    void of_job(master::JobOptions options, bool checks_nodes) {
        options_ = std::move(options);
        checks_nodes_ = checks_nodes;
    }
    /// `fault_windows` outlives this, and may be one of several of this node: its own, its
    /// machine's.
    void of_node(const std::string& node, const FaultWindows& fault_windows) {
        nodes_[node].push_back(&fault_windows);
    }
    /// A node on which a master may be: what is wrong with the way to it is wrong with the ways of
    /// all nodes.
    void of_master_place(const FaultWindows& fault_windows) {
        master_places_.push_back({.fault_windows = &fault_windows});
    }
    /// The places of before have masters no more: another one has them from now on.
    void masters_moved() {
        for (MasterPlace& place : master_places_) place.until = std::min(place.until, clock_.now());
    }
    /// Calls made() with what each master that is there has now.
    void of_masters(std::function<void()> look) { look_at_masters_ = std::move(look); }

    // ---- what happens

    /// The store at an address is empty, and of that attempt.
    void store_began(const std::string& address, const job_protocol::World& world);
    /// It goes with its agent. Masters have not heard of that yet: a world that they have made and
    /// told to no node is seen now or never.
    void store_ended(const std::string& address) {
        look_at_masters_();
        stores_.erase(address);
    }
    /// Workers of a node begin, as members of that world.
    void began(const std::string& node, const job_protocol::World& world);
    /// The program is not there.
    void not_started(const std::string& node, const job_protocol::World& world);
    enum class WorkerEnded { kDone, kDied, kStopped };
    void worker_ended(const std::string& node, const job_protocol::World& world, int rank,
                      WorkerEnded how, const std::string& error = "");
    /// An agent stops its workers.
    void stops(const std::string& node, const job_protocol::World& world, Duration grace);
    /// The node is to leave the job, of which masters have not heard yet, as above.
    void leaves(const std::string& node) {
        look_at_masters_();
        leaving_.insert(node);
    }
    void agent_ended(const std::string& node, const agent::AgentEnd& end);
    /// A master has made it, or taken it over.
    void made(const job_protocol::World& world) {
        Made& newest = made_[world.generation];
        newest = {.nodes = world.nodes, .restarts = std::max(newest.restarts, world.restarts)};
    }
    void master_began() { ++masters_; }
    /// A job that has failed begins again with its next master, which forgets the charges.
    void begins_again() { begins_again_ = true; }
    /// The job has a record that knows nothing of those before it, which may be lost. Its number.
    std::size_t new_record() {
        kept_.emplace_back();
        return kept_.size() - 1;
    }
    /// A record was written, or read.
    void recorded(const job_protocol::JobRecord& record, std::size_t number = 0);
    /// The records do not take what they are told, or take long for it.
    FaultWindows& records() { return records_; }
    /// An older master is there beside the newest: some nodes obey the one, some the other.
    FaultWindows& masters() { return masters_differ_; }

    // ---- what there is to say of it

    std::size_t worlds() const { return worlds_.size(); }
    /// When something happened last.
    Instant last_said() const { return last_said_; }
    /// By the newest record that a master has used.
    const std::optional<job_protocol::Verdict>& end() const { return newest_kept().end; }
    /// By any of them.
    bool has_ended(job_protocol::Verdict::Kind how) const;
    /// Something was wrong with that node, or the way to a master, by which it may be taken for
    /// lost.
    bool has_excuse(const std::string& node, Instant from, Instant now) const;

  private:
    /// What a record said when it was written last.
    struct Kept {
        std::vector<job_protocol::Incident> charged = {};
        std::optional<job_protocol::Verdict> end = {};
        job_protocol::Generation newest_at_end = {};
    };
    struct Known {
        int nodes = 0;
        int ranks = 0;
        std::map<int, job_protocol::Member> members = {};  ///< by group rank
        int masters = 0;                                   ///< that there were when it was made
        Instant since = {};
        bool died = false;  ///< a worker, in any of its attempts
    };

    Known& known(const job_protocol::World& world);
    const Kept& newest_kept() const { return kept_[newest_used_]; }
    void look_at_shape(const job_protocol::World& world);
    void look_at_last(const job_protocol::World& world);
    void look_at_charges(const job_protocol::JobRecord& record, Kept& kept);
    void look_at_budgets(const std::vector<job_protocol::Incident>& charged);
    void look_at_end(const job_protocol::Verdict& end, const Kept& kept);
    bool was_due(const job_protocol::FailureReport& cause, const Kept& kept) const;
    bool was_charged(const job_protocol::Generation& generation, std::optional<int> restarts) const;
    /// From that node to a master.
    FaultWindows way_of(const std::string& node) const;
    FaultWindows way_of_masters() const;
    bool has_excuse(const Known& world) const;
    bool was_begun_twice(const job_protocol::World& world) const;
    bool was_replaced_unseen(const job_protocol::World& world) const;
    bool may_stop(const job_protocol::World& world);

    const Clock& clock_;
    Ledger& ledger_;
    std::string who_;
    Instant last_said_{};
    master::JobOptions options_;
    bool checks_nodes_ = false;
    std::map<std::string, std::vector<const FaultWindows*>> nodes_;
    struct MasterPlace {
        const FaultWindows* fault_windows;
        Instant until = Instant::max();  ///< then the job's masters are elsewhere
    };
    std::vector<MasterPlace> master_places_;
    std::function<void()> look_at_masters_ = [] {};
    FaultWindows records_;
    FaultWindows masters_differ_;
    std::map<job_protocol::Generation, Known> worlds_;
    struct Made {
        int nodes = 0;
        int restarts = 0;  ///< the newest attempt
    };
    std::map<job_protocol::Generation, Made> made_;  ///< what a master had of each
    std::map<std::pair<job_protocol::Generation, int>, std::string> holders_;
    std::map<std::string, Attempt> stores_;
    std::map<Attempt, std::set<std::string>> died_;  ///< of what: the errors
    std::map<Attempt, std::set<int>> done_;          ///< ranks
    std::set<std::string> leaving_;
    int masters_ = 0;
    bool begins_again_ = false;
    /// The records, oldest first, and between them what they said of attempts that had failed.
    std::vector<Kept> kept_ = std::vector<Kept>(1);
    std::size_t newest_used_ = 0;  ///< of kept_
};

}  // namespace muster::sim::elastic
