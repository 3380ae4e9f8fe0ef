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
    Hello hello;  ///< with the newest report
    std::optional<Instant> away_until = {};
    std::string why_away = {};
    std::optional<Generation> ran = {};  ///< may still run there, and may not
    std::optional<Verdict> refused = {};
    std::optional<Instant> claims_until = {};  ///< another agent has its slot

    const std::string& incarnation() const { return hello.incarnation; }
};

/// The agents of a job: which there are, whose connection broke a moment ago, and which claim a
/// slot that another one has. It decides nothing. Pure.
class Agents {
  public:
    /// Of a new one, or of one that joins again. Valid until it is removed.
    struct Joined {
        Agent& agent;
        bool is_new;
    };
    Joined join(Hello hello);
    /// Null: it has not joined, or was lost.
    Agent* find(const std::string& incarnation);
    const Agent* find(const std::string& incarnation) const;
    /// That is there.
    Agent& at(const std::string& incarnation) { return all_.at(incarnation); }
    const Agent& at(const std::string& incarnation) const { return all_.at(incarnation); }
    bool contains(const std::string& incarnation) const { return all_.contains(incarnation); }
    void remove(const std::string& incarnation);

    /// By incarnation.
    const std::map<std::string, Agent>& all() const { return all_; }

    // ---- broken connections

    void broke(Agent& agent, std::string why, Instant until);
    void came_back(Agent& agent);
    std::size_t away() const { return away_.size(); }
    /// The first whose time is over by then.
    const Agent* overdue(Instant now) const;

    // ---- claims

    void claims(Agent& agent, Instant until);
    void claims_no_more(Agent& agent);
    /// As they are now: a claim may be settled while a caller goes through them.
    std::vector<std::string> claimers() const { return {claimers_.begin(), claimers_.end()}; }

    /// When the first of those away is overdue; Instant::max(): none is away.
    Instant next_overdue() const;
    /// The first end of a claim.
    Instant next_claim() const;

  private:
    std::map<std::string, Agent> all_;
    std::set<std::pair<Instant, std::string>> away_;
    std::set<std::string> claimers_;
};

}  // namespace muster::master
