#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "master/service/vocabulary.h"

namespace muster::master {

/// An agent of the job, from when it joins until it is lost.
struct Agent {
    Hello hello;  ///< including the newest report
    std::optional<Instant> away_until = {};
    std::string why_away = {};
    std::optional<Generation> ran = {};  ///< may still be running there, or not
    std::optional<Verdict> refused = {};
    std::optional<Instant> claims_until = {};  ///< while another agent has its slot

    const std::string& incarnation() const { return hello.incarnation; }
};

/// That the node of an agent was lost from that world: `how` with what is known of both.
FailureReport loss_of(const Agent& agent, Slot slot, const World& world, FailureReport how);

/// The agents of a job: which ones there are, whose connection has just broken, and which ones
/// claim a slot that another agent has. Makes no decisions. Pure.
class Agents {
  public:
    /// A new agent, or one that joins again. Valid until the agent is removed.
    struct Joined {
        Agent& agent;
        bool is_new;
    };
    Joined join(Hello hello);
    /// Null if it has not joined, or is lost.
    Agent* find(const std::string& incarnation);
    const Agent* find(const std::string& incarnation) const;
    /// The agent must exist.
    Agent& at(const std::string& incarnation) { return all_.at(incarnation); }
    const Agent& at(const std::string& incarnation) const { return all_.at(incarnation); }
    bool contains(const std::string& incarnation) const { return all_.contains(incarnation); }
    void remove(const std::string& incarnation);

    /// By incarnation.
    const std::map<std::string, Agent>& all() const { return all_; }

    // ---- broken connections

    void disconnected(Agent& agent, std::string why, Instant until);
    void came_back(Agent& agent);
    std::size_t away() const { return away_.size(); }
    /// The first one whose time is over.
    const Agent* overdue(Instant now) const;

    // ---- claims

    void claims(Agent& agent, Instant until);
    void claims_no_more(Agent& agent);
    /// A copy: a claim may be settled while the caller iterates.
    std::vector<std::string> claimers() const { return {claimers_.begin(), claimers_.end()}; }

    /// When the first disconnected agent is overdue; Instant::max() if all are connected.
    Instant next_overdue() const;
    /// When the first claim ends.
    Instant next_claim() const;

  private:
    std::map<std::string, Agent> all_;
    std::set<std::pair<Instant, std::string>> away_;
    std::set<std::string> claimers_;
};

}  // namespace muster::master
