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

namespace muster::master {

struct JobOptions {
    MembershipLimits membership = {};
    PolicyOptions policy = {};
    std::array<Budget, kCharges> budgets = {};
    /// With it a job begins; with any other epoch there may be a world of an earlier master. 0:
    /// there was one, and its record is not here.
    std::uint64_t first_epoch = 1;
    /// An agent whose connection broke has so long to come back before it counts as lost.
    Duration reconnect = std::chrono::milliseconds(100);
    /// Another who claims its slot waits so long for it to fall silent. More than the heartbeat
    /// limit.
    Duration claim = std::chrono::seconds(7);
    /// From SIGTERM to SIGKILL: of workers whose peers are gone, and of healthy ones.
    Duration broken_grace = std::chrono::seconds(2);
    Duration healthy_grace = std::chrono::seconds(30);
};

/// A job as its master sees it: who is there, what runs, what failed, and by that the order that
/// holds for each agent.
///
/// - The agent of group rank 0 gets its order to run first; the others get theirs when its store
///   has begun anew, so that nobody finds in it what the world before has stored.
/// - The store goes with its agent: where that is another by now, and not all have begun, all begin
///   anew.
/// - An agent whose connection broke is lost when it has not come back within `reconnect`; one that
///   fell silent has had its time. An agent that took the workers of an ended one over takes its
///   place. Another who claims the slot of one that is there is refused when that one has been
///   heard of since.
/// - A failure is charged and recorded before anything follows from it: while unwritten(), no order
///   may be told.
/// - While a service holds it, no first world is made.
/// - The job succeeds when all members of its world have said that their workers ended with 0. From
///   the first who said so on the world does not grow, and who is done may be lost.
/// - An end is final.
///
/// Pure: time is a parameter, in `now` and in the calendar's `wall`. After each event advance(),
/// and when wake_at() has come.
class Job final : public ServiceHost {
  public:
    /// `record`: as claimed, with the epoch of this master. `services` outlive it; they may be added
    /// until the first event.
    Job(JobOptions options, JobRecord record, Instant now, Services& services);

    /// Its stream begins, for the first time or again. kConflict: it has heard of a newer master;
    /// this one is none any more.
    Result<void> joined(Hello hello, Instant now, WallTime wall);
    /// From who has not joined, or was lost: nothing.
    void reported(const std::string& incarnation, Report report, Instant now, WallTime wall);
    void broke(const std::string& incarnation, const std::string& why, Instant now);
    void silent(const std::string& incarnation, const std::string& why, Instant now, WallTime wall);
    void advance(Instant now, WallTime wall);
    Instant wake_at() const;

    /// What holds for an agent that has joined; nothing for others.
    std::optional<Directive> directive_for(const std::string& incarnation) const;
    struct Changed {
        bool all = false;
        std::set<std::string> some;  ///< who else
    };
    /// For whom another order may hold than when this was called last.
    Changed take_changed();
    /// For people, since this was called last.
    std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }

    const JobRecord& record() const { return record_.now(); }
    /// Counts up with each change of the record.
    std::uint64_t record_version() const { return record_.version(); }
    void written(std::uint64_t version) { record_.written(version); }
    std::uint64_t written_version() const { return record_.written_version(); }
    bool unwritten() const { return written_version() != record_version(); }

    const std::optional<Verdict>& end() const { return record().end; }
    const World* world() const { return members_.world(); }
    /// It may still find agents of the master before it, and their world.
    bool is_rejoining() const { return members_.is_rejoining(); }
    /// Why what ran before does so no more.
    const std::string& why() const { return why_; }
    /// Agents whose connection broke a moment ago.
    std::size_t away() const { return agents_.away(); }

    // ---- for its services

    std::uint64_t epoch() const override { return record().epoch; }
    std::optional<int> rank_of(const std::string& incarnation,
                               const Generation& generation) const override;
    std::string section(const std::string& name) const override;
    Result<void> set_section(const std::string& name, std::string bytes) override;
    void exclude(const std::string& by, FailureKind kind, const std::vector<UnfitNode>& nodes,
                 Instant now, WallTime wall) override;
    void say(Notice notice) override;

  private:
    void admit(Agent& agent, Instant now, WallTime wall);
    void refuse(Agent& agent, std::string text);
    bool was_moved_to(Slot slot) const;
    bool claim(Agent& agent, Instant now, WallTime wall);
    void look_at_claims(Instant now, WallTime wall);
    void read(Agent& agent, Instant now, WallTime wall);
    void settle(const Agent& agent, Instant now, WallTime wall);
    void lose(const std::string& incarnation, FailureKind kind, const std::string& why, Instant now,
              WallTime wall);
    void decide(const FailureReport& evidence, const std::string& incarnation, Instant now,
                WallTime wall);
    void charge(const Incident& incident, WallTime wall);
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
    FailureReport of_node(const Agent& agent, FailureKind kind, const std::string& why,
                          WallTime wall) const;

    JobOptions options_;
    KeptRecord record_;
    Membership members_;
    FailurePolicy policy_;
    Services& services_;
    Agents agents_;
    std::unordered_map<std::string, int> places_;  ///< group ranks in the world that runs
    Generation told_;                              ///< the world that places_ are in
    bool store_ready_ = false;
    int most_restarts_ = 0;
    std::set<std::string> done_;
    std::set<std::string> gone_when_done_;
    std::string why_;  ///< what runs otherwise is to stop
    Duration grace_;
    std::string waiting_;  ///< for whom
    Instant say_next_;     ///< who is missing
    bool first_world_was_due_ = false;
    std::vector<Notice> notices_;
    Changed changed_;
};

}  // namespace muster::master
