#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "master/agents.h"
#include "master/kept_record.h"
#include "master/membership.h"
#include "master/service/services.h"
#include "master/service/vocabulary.h"
#include "master/terms.h"

namespace muster::master {

struct JobOptions {
    MembershipLimits membership = {};
    PolicyOptions policy = {};
    std::array<Budget, kCharges> budgets = {};
    /// The epoch with which a job begins; with any other one there may be a world of an earlier
    /// master. 0: there was an earlier master, and its record is not here.
    std::uint64_t first_epoch = 1;
    /// The addresses of the master's machine, if its agents only guess by which of them others reach
    /// it: the first is the guess.
    std::vector<std::string> guessed_addresses = {};
    /// How long an agent whose connection broke may take to come back before it counts as lost.
    Duration reconnect = std::chrono::milliseconds(100);
    /// How long an agent that claims a taken slot waits for the holder to fall silent. Longer than
    /// the heartbeat limit.
    Duration claim = std::chrono::seconds(7);
    /// From SIGTERM to SIGKILL: for workers whose peers are gone, and for healthy ones.
    Duration broken_grace = std::chrono::seconds(2);
    Duration healthy_grace = std::chrono::seconds(30);
    /// The master was told none of the job's terms: it has those of its nodes (JobTerms), and makes
    /// no world before it has them. An agent that says none is served by what others have said.
    bool terms_of_nodes = false;
    /// After a failure its nodes start again, and the next master begins the job again with them.
    bool begins_again = false;
};

/// A job as its master sees it: which agents there are, what runs, what failed, and from that the
/// directive for each agent.
///
/// - The agent of group rank 0 is told to run first; the others follow when its store has been
///   reset, so that no worker finds in it what the previous world stored.
/// - The store is lost with its agent: if another agent has that rank before all workers have
///   started, all restart.
/// - An agent whose connection broke is lost if it does not come back within `reconnect`; one that
///   fell silent, at once. An agent that took over the workers of an ended agent replaces it. An
///   agent that claims the slot of another one is refused if the other has been heard of since.
/// - A failure is charged and recorded before anything follows from it: while unwritten(), no
///   directive may be sent.
/// - While a service holds it back, no first world is made.
/// - The job succeeds when all members of its world have reported that their workers exited with 0.
///   After the first such report the world does not grow, and members that are done may be lost.
/// - Without terms of its own (JobOptions::terms_of_nodes) it keeps those that hold in its record.
/// - The end is final.
///
/// Pure: time is a parameter, monotonic in `now` and calendar time in `wall`. Call advance() after
/// each event and when wake_at() has come.
class Job final : public ServiceHost {
  public:
    /// `record`: as claimed, with the epoch of this master. `services` must outlive the job; they
    /// may be added until the first event.
    Job(JobOptions options, JobRecord record, Instant now, Services& services);

    /// Whether an agent is there for the next attempt: this one has failed before it came, and its end
    /// is none of that agent's. To be asked before joined().
    bool is_for_next_attempt(const Hello& hello) const {
        return options_.begins_again && end() && end()->kind == Verdict::Kind::kFailed &&
               hello.epoch_seen == 0 && !hello.report.holds && !agents_.contains(hello.incarnation);
    }
    /// An agent's stream begins, for the first time or again. kConflict: the agent knows a newer
    /// master, and this one is no longer in charge.
    Result<void> joined(Hello hello, Instant now, WallTime wall);
    /// An agent of another machine has reached the master at that address of its machine. If the
    /// agents there only guessed theirs, this is it from the next world on.
    void reached_at(const std::string& address);
    /// Ignored unless the agent has joined and is not lost.
    void reported(const std::string& incarnation, Report report, Instant now, WallTime wall);
    void disconnected(const std::string& incarnation, const std::string& why, Instant now);
    void timed_out(const std::string& incarnation, const std::string& why, Instant now,
                   WallTime wall);
    void advance(Instant now, WallTime wall);
    Instant wake_at() const;

    /// The current directive; nullopt unless the agent has joined.
    std::optional<Directive> directive_for(const std::string& incarnation) const;
    struct Changed {
        bool all = false;
        std::set<std::string> some;  ///< the others, by incarnation
    };
    /// The agents whose directive may have changed since the last call.
    Changed take_changed() { return std::exchange(changed_, {}); }
    /// Notices for people since the last call.
    std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }

    const JobRecord& record() const { return record_.now(); }
    /// Rises with each change of the record.
    std::uint64_t record_version() const { return record_.version(); }
    void written(std::uint64_t version) { record_.written(version); }
    std::uint64_t written_version() const { return record_.written_version(); }
    bool unwritten() const { return written_version() != record_version(); }

    /// The terms that hold, where they are those of its nodes.
    const std::optional<Terms>& terms() const { return terms_.now(); }
    const std::optional<Verdict>& end() const { return record().end; }
    const World* world() const { return members_.world(); }
    /// Whether it may still find agents of the previous master, and their world.
    bool is_rejoining() const { return members_.is_rejoining(); }
    /// For people; kept_record.h.
    std::string charged_before(WallTime wall) const {
        return master::charged_before(record(), options_.budgets, wall);
    }
    /// Why the previous world no longer runs.
    const std::string& why() const { return why_; }
    /// The number of agents whose connection has just broken.
    std::size_t away() const { return agents_.away(); }

    // ---- for its services

    std::uint64_t epoch() const override { return record().epoch; }
    std::optional<int> rank_of(const std::string& incarnation,
                               const Generation& generation) const override;
    std::string section(const std::string& name) const override;
    Result<void> set_section(const std::string& name, std::string bytes) override {
        return record_.set_section(name, std::move(bytes));
    }
    void exclude(const std::string& by, FailureKind kind, const std::vector<UnfitNode>& nodes,
                 Instant now, WallTime wall) override;
    void wants_nodes(int nodes) override { terms_.wants_nodes(nodes); }
    void expects_successors(std::set<Slot> slots) override { successors_ = std::move(slots); }
    void wants_servers(int servers) override { wanted_servers_ = servers; }
    std::optional<int> wanted_servers() const override { return wanted_servers_; }
    std::string waits_for() const override;
    void say(Notice notice) override { notices_.push_back(std::move(notice)); }

  private:
    void correct_address(Hello& hello) const;
    void find_world(Instant now);
    void hear_terms(const Hello& hello);
    bool lacks_terms() const { return options_.terms_of_nodes && !terms_.now(); }
    void look_at_terms();
    void keep_terms();
    void admit(Agent& agent, Instant now, WallTime wall);
    void refuse(Agent& agent, std::string text);
    void leave_out(Agent& agent, std::string why, Instant now, WallTime wall);
    bool was_moved_to(Slot slot) const;
    bool claim(Agent& agent, Instant now, WallTime wall);
    void look_at_claims(Instant now, WallTime wall);
    void read(Agent& agent, Instant now, WallTime wall);
    void settle(const Agent& agent, Instant now, WallTime wall);
    void lose(const std::string& incarnation, FailureKind kind, const std::string& why, Instant now,
              WallTime wall);
    void decide(const FailureReport& evidence, const std::string& incarnation, Instant now,
                WallTime wall);
    void finish(Verdict verdict);
    void new_world(Instant now, WallTime wall);
    void end_of_world(Instant now);
    bool lacks_store() const;
    void replace_store(Instant now);
    void say_who_is_missing(Instant now);
    bool advance_services(Instant now, WallTime wall);
    std::vector<Candidate> candidates() const;
    void changed(const std::string& incarnation) { changed_.some.insert(incarnation); }
    bool is_member(const std::string& incarnation) const { return places_.contains(incarnation); }

    JobTerms terms_;
    std::optional<int> wanted_servers_;
    std::set<Slot> successors_;  ///< slots that agents may claim for as long as it takes
    JobOptions options_;
    KeptRecord record_;
    Membership members_;
    FailurePolicy policy_;
    Services& services_;
    Agents agents_;
    std::unordered_map<std::string, int> places_;  ///< group ranks in the running world
    Generation told_;                              ///< the world that places_ belongs to
    bool store_ready_ = false;
    int most_restarts_ = 0;
    std::set<std::string> done_;
    std::set<std::string> gone_when_done_;
    std::string why_;  ///< why anything else that runs must stop
    Duration grace_;
    std::string reached_at_;  ///< the address that was guessed wrong; empty: none was
    std::string waiting_;     ///< what the job waits for
    Instant say_next_;        ///< when to log next who is missing
    bool first_world_was_due_ = false;
    bool services_know_terms_ = false;
    std::vector<Notice> notices_;
    Changed changed_;
};

}  // namespace muster::master
