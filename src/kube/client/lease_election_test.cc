#include "kube/client/lease_election.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "base/rng.h"
#include "base/test_seeds.h"

namespace muster::kube::lease_election_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using Act = LeaseElection::Act;

Instant at(double second) { return Instant(std::chrono::nanoseconds(std::llround(second * 1e9))); }
WallTime wall(double second) {
    return WallTime(std::chrono::nanoseconds(std::llround(second * 1e9)));
}

/// Held by `holder` for 15 s at a time, renewed at that second.
LeaseRecord held(std::string holder, double renewed, std::int32_t transitions = 0) {
    return {.holder = std::move(holder),
            .duration = seconds(15),
            .acquired = wall(0),
            .renewed = wall(renewed),
            .transitions = transitions,
            .resource_version = fmt::format("{}-{}", transitions, renewed)};
}

class LeaseElectionTest : public testing::Test {
  protected:
    /// What it wants at that second: "wait", "wait 17", "read", "create me", "write me over 0-3".
    std::string wanted(double now) {
        const LeaseElection::Step step = election.next(at(now), wall(now));
        switch (step.act) {
            case Act::kRead:
                return "read";
            case Act::kWrite:
                if (step.record.resource_version.empty()) return "create " + step.record.holder;
                return fmt::format("write {} over {}", step.record.holder,
                                   step.record.resource_version);
            case Act::kWait:
                break;
        }
        if (step.until == Instant::max()) return "wait";
        return fmt::format("wait {}",
                           std::chrono::duration<double>(step.until.time_since_epoch()).count());
    }
    void sends_and_reads(std::optional<LeaseRecord> found, double now) {
        election.sent(at(now));
        election.read(std::move(found), at(now));
    }
    /// It writes what it wants to, and has the answer `late` seconds after.
    void writes(double now, double late = 0) {
        LeaseElection::Step step = election.next(at(now), wall(now));
        ASSERT_EQ(step.act, Act::kWrite);
        step.record.resource_version = fmt::format("{}-{}", step.record.transitions, now);
        election.sent(at(now));
        election.written(step.record, at(now + late));
    }
    void becomes_leader(double now) {
        sends_and_reads(std::nullopt, now);
        writes(now);
        ASSERT_TRUE(election.leads(at(now)));
    }

    LeaseElection election{"me", {}};
};

TEST_F(LeaseElectionTest, ReadsFirstAndMakesTheLeaseThatIsMissing) {
    EXPECT_EQ(wanted(0), "read");
    election.sent(at(0));
    EXPECT_EQ(wanted(0), "wait") << "one request at a time";
    election.read(std::nullopt, at(0.1));
    EXPECT_EQ(wanted(0.1), "create me");
    EXPECT_FALSE(election.leads(at(0.1)));
    writes(0.1, 0.2);
    EXPECT_EQ(election.leads_until(), at(10.1)) << "from when it was sent, not answered";
    EXPECT_EQ(wanted(0.3), "wait 2.1");
    EXPECT_EQ(wanted(2.1), "write me over 0-0.1");
}

TEST_F(LeaseElectionTest, TakesAReleasedOneAtOnceAndCounts) {
    sends_and_reads(held("", 5, 3), 6);
    LeaseElection::Step step = election.next(at(6), wall(6));
    EXPECT_EQ(step.record.holder, "me");
    EXPECT_EQ(step.record.transitions, 4);
    EXPECT_EQ(step.record.acquired, wall(6));
    EXPECT_EQ(step.record.duration, seconds(15));
    writes(6);
    step = election.next(at(9), wall(9));
    EXPECT_EQ(step.record.transitions, 4) << "a renewal is not a change of holder";
    EXPECT_EQ(step.record.acquired, wall(6));
    EXPECT_EQ(step.record.renewed, wall(9));
}

TEST_F(LeaseElectionTest, WaitsForAsLongAsItHasNotSeenAChange) {
    // Its renewal may be an hour old by its own calendar: that is not looked at.
    sends_and_reads(held("other", -3600), 1);
    EXPECT_EQ(election.holder(), "other");
    EXPECT_EQ(wanted(1), "wait 16");
    election.watched(held("other", 3), at(4));
    EXPECT_EQ(wanted(4), "wait 19");
    election.watched(held("other", 2), at(5));
    EXPECT_EQ(wanted(5), "wait 19") << "old news";
    sends_and_reads(held("other", 3), 6);
    EXPECT_EQ(wanted(6), "wait 19") << "read again, and nothing new";
    EXPECT_EQ(wanted(19), "write me over 0-3");
}

TEST_F(LeaseElectionTest, ALeaseThatNamesNoDurationGetsOurs) {
    LeaseRecord record = held("other", 1);
    record.duration = {};
    sends_and_reads(record, 1);
    EXPECT_EQ(wanted(1), "wait 16");
}

TEST_F(LeaseElectionTest, ALostRaceIsReadAtOnceAndNotWrittenAgain) {
    sends_and_reads(held("", 1), 1);
    election.sent(at(1));
    election.outdated();
    EXPECT_EQ(wanted(1), "read");
    sends_and_reads(held("other", 1, 1), 1.5);
    EXPECT_EQ(wanted(1.5), "wait 16.5");
}

TEST_F(LeaseElectionTest, AServerThatRefusesWhatItShowsIsNotPressed) {
    sends_and_reads(held("", 1), 1);
    election.sent(at(1));
    election.outdated();
    sends_and_reads(held("", 1), 1);
    EXPECT_EQ(wanted(1), "wait 3");
    EXPECT_EQ(wanted(3), "write me over 0-1");
}

TEST_F(LeaseElectionTest, WithoutAnAnswerItReadsBeforeItWrites) {
    becomes_leader(0);
    election.sent(at(2));
    election.failed();
    EXPECT_TRUE(election.leads(at(3))) << "the last renewal still counts";
    EXPECT_EQ(wanted(3), "wait 4");
    EXPECT_EQ(wanted(4), "read");
    // It did happen.
    sends_and_reads(held("me", 2), 4);
    EXPECT_EQ(wanted(4), "write me over 0-2");
    EXPECT_EQ(election.leads_until(), at(10)) << "nobody told us when it did";
}

TEST_F(LeaseElectionTest, ItsOwnNewsTellsItThatALostWriteHappened) {
    becomes_leader(0);
    election.sent(at(2));
    election.failed();
    election.watched(held("me", 2), at(2.5));
    EXPECT_EQ(wanted(4), "write me over 0-2");
}

TEST_F(LeaseElectionTest, PastItsDeadlineItLeadsNoMoreAndStartsAnew) {
    becomes_leader(0);
    EXPECT_TRUE(election.leads(at(9.9)));
    EXPECT_FALSE(election.leads(at(10)));
    EXPECT_EQ(wanted(10), "write me over 0-0");
    writes(11);
    EXPECT_TRUE(election.leads(at(11)));
}

TEST_F(LeaseElectionTest, AnAnswerThatComesTooLateMakesNoLeader) {
    sends_and_reads(std::nullopt, 0);
    writes(0, 12);
    EXPECT_FALSE(election.leads(at(12)));
}

TEST_F(LeaseElectionTest, AnotherHolderDeposesAtOnce) {
    becomes_leader(0);
    election.watched(held("other", 1, 1), at(1));
    EXPECT_FALSE(election.leads(at(1)));
    EXPECT_EQ(wanted(1), "wait 16");
}

TEST_F(LeaseElectionTest, OldNewsOfAnotherHolderDoesNot) {
    sends_and_reads(held("", 1, 4), 1);
    writes(1);
    election.watched(held("other", 0.5, 4), at(1.1));
    EXPECT_TRUE(election.leads(at(1.1)));
    election.watched_removal(held("other", 0.5, 4), at(1.2));
    EXPECT_TRUE(election.leads(at(1.2)));
}

TEST_F(LeaseElectionTest, AReadThatNamesAnotherHolderDeposesWhateverItCounts) {
    sends_and_reads(held("", 1, 4), 1);
    writes(1);
    election.sent(at(3));
    election.outdated();
    sends_and_reads(held("other", 2, 0), 3);
    EXPECT_FALSE(election.leads(at(3))) << "somebody made the Lease anew";
}

TEST_F(LeaseElectionTest, ALeaseThatIsRemovedDeposesAndIsMadeAnew) {
    becomes_leader(0);
    election.watched_removal(*election.release(wall(0)), at(0.5));
    EXPECT_EQ(wanted(0.5), "create me");
    writes(0.5);
    election.watched_removal(held("me", 0.5), at(1));
    EXPECT_FALSE(election.leads(at(1)));
    EXPECT_EQ(wanted(1), "create me");
}

TEST_F(LeaseElectionTest, ReleasesWhatItHoldsAndNothingElse) {
    EXPECT_FALSE(election.release(wall(0)));
    sends_and_reads(held("other", 1), 1);
    EXPECT_FALSE(election.release(wall(1)));
    sends_and_reads(held("", 2, 1), 2);
    writes(2);
    const std::optional<LeaseRecord> left = election.release(wall(3));
    ASSERT_TRUE(left);
    EXPECT_EQ(left->holder, "");
    EXPECT_EQ(left->duration, seconds(1));
    EXPECT_EQ(left->transitions, 2);
    EXPECT_EQ(left->resource_version, "2-2");
    EXPECT_FALSE(election.leads(at(3)));
}

TEST(ElectionTiming, SaysWhatIsWrong) {
    struct Row {
        ElectionTiming timing;
        const char* problem;
    };
    for (const auto& [timing, problem] :
         {Row{{}, ""}, Row{{seconds(4), seconds(3), seconds(1)}, ""},
          Row{{seconds(0), seconds(0), seconds(0)}, "the lease duration (0 s) must be 1 s or more"},
          Row{{seconds(10), seconds(10), seconds(2)},
              "the renew deadline (10 s) must be shorter than the lease duration (10 s)"},
          Row{{seconds(15), seconds(10), seconds(0)}, "the retry period (0 s)"},
          Row{{seconds(15), seconds(3), seconds(2)},
              "the retry period (2 s) must be at most half of the renew deadline (3 s)"}})
        EXPECT_THAT(problem_of(timing), HasSubstr(problem)) << problem;
    EXPECT_THAT(problem_of({}), IsEmpty());
}

// --- many candidates, one Lease, a network between them ---

/// Things that happen at moments of true time.
class Agenda {
  public:
    void add(double when, std::function<void()> what) { todo_.emplace(when, std::move(what)); }
    double now() const { return now_; }
    void run_until(double end) {
        while (!todo_.empty() && todo_.begin()->first <= end) {
            auto next = todo_.extract(todo_.begin());
            now_ = next.key();
            next.mapped()();
        }
        now_ = end;
    }

  private:
    double now_ = 0;
    std::multimap<double, std::function<void()>> todo_;
};

/// The Lease of an API server.
struct StoredLease {
    std::optional<LeaseRecord> record;
    int version = 0;

    /// False: conflict.
    bool write(LeaseRecord& wanted) {
        if (wanted.resource_version != (record ? record->resource_version : "")) return false;
        wanted.resource_version = std::to_string(++version);
        record = wanted;
        return true;
    }
};

struct Trouble {
    double latency;  ///< at most, each way, seconds
    double loss;     ///< of a request, and again of its answer
    double skew;     ///< how much faster or slower than true time a clock may run
};

class ElectionWorld {
  public:
    ElectionWorld(std::uint64_t seed, int candidates, Trouble trouble)
        : rng_(seed), trouble_(trouble) {
        for (int i = 0; i < candidates; ++i)
            candidates_.push_back({.election = LeaseElection(fmt::format("c{}", i), kTiming),
                                   .rate = 1 + trouble.skew * (2 * rng_.unit() - 1),
                                   .offset = 1000 * rng_.unit()});
        for (std::size_t i = 0; i < candidates_.size(); ++i) act(i);
    }

    static constexpr ElectionTiming kTiming{seconds(4), seconds(3), milliseconds(500)};

    void run(double until) { agenda_.run_until(until); }
    void kill(std::size_t i) { candidates_[i].dead = true; }
    void pause(std::size_t i, double until) { candidates_[i].paused_until = until; }
    /// Who may write now, by their own clocks. Also counts the seconds with a leader.
    std::vector<std::size_t> leaders() const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < candidates_.size(); ++i)
            if (!candidates_[i].dead && candidates_[i].election.leads(local(i))) found.push_back(i);
        return found;
    }
    Rng& rng() { return rng_; }

  private:
    struct Candidate {
        LeaseElection election;
        double rate;
        double offset;
        bool dead = false;
        double paused_until = 0;
        std::uint64_t request = 0;
    };

    Instant local(std::size_t i) const {
        return at(candidates_[i].offset + agenda_.now() * candidates_[i].rate);
    }
    WallTime calendar(std::size_t i) const {
        return wall(candidates_[i].offset + agenda_.now() * candidates_[i].rate);
    }
    double delay() { return trouble_.latency * rng_.unit() * rng_.unit(); }

    /// What happens to a paused candidate happens when it continues.
    void at_candidate(std::size_t i, double when, std::function<void(Candidate&)> what) {
        agenda_.add(when, [this, i, what = std::move(what)] {
            Candidate& self = candidates_[i];
            if (self.dead) return;
            if (agenda_.now() < self.paused_until) return at_candidate(i, self.paused_until, what);
            what(self);
            act(i);
        });
    }

    /// Does what the candidate wants now.
    void act(std::size_t i) {
        Candidate& self = candidates_[i];
        const LeaseElection::Step step = self.election.next(local(i), calendar(i));
        if (step.act == Act::kWait) {
            if (step.until == Instant::max()) return;
            const double wait =
                std::chrono::duration<double>(step.until - local(i)).count() / self.rate;
            return at_candidate(i, agenda_.now() + wait + 1e-6, [](Candidate&) {});
        }
        self.election.sent(local(i));
        const std::uint64_t request = ++self.request;
        // Whoever waits for an answer gives up after a second, and closes the connection.
        at_candidate(i, agenda_.now() + 1, [request](Candidate& giving_up) {
            if (giving_up.request != request) return;
            ++giving_up.request;
            giving_up.election.failed();
        });
        if (rng_.chance(trouble_.loss)) return;
        agenda_.add(agenda_.now() + delay(), [this, i, request, step] { serve(i, request, step); });
    }

    void serve(std::size_t i, std::uint64_t request, LeaseElection::Step step) {
        bool done = true;
        if (step.act == Act::kWrite) {
            done = lease_.write(step.record);
            if (done) tell(step.record);
        }
        const std::optional<LeaseRecord> found = lease_.record;
        if (rng_.chance(trouble_.loss)) return;
        at_candidate(i, agenda_.now() + delay(),
                     [this, i, request, step, done, found](Candidate& self) {
                         if (self.request != request) return;
                         ++self.request;
                         if (step.act == Act::kRead)
                             self.election.read(found, local(i));
                         else if (done)
                             self.election.written(step.record, local(i));
                         else
                             self.election.outdated();
                     });
    }

    /// Watches bring it to some, in some order.
    void tell(const LeaseRecord& record) {
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (rng_.chance(trouble_.loss)) continue;
            at_candidate(i, agenda_.now() + delay(), [this, i, record](Candidate& self) {
                self.election.watched(record, local(i));
            });
        }
    }

    Rng rng_;
    Trouble trouble_;
    Agenda agenda_;
    StoredLease lease_;
    std::vector<Candidate> candidates_;
};

TEST(Elections, NeverHaveTwoLeadersAndSoonHaveOne) {
    for (const std::uint64_t seed : seeds_of_this_run(500, 5)) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const Trouble trouble{.latency = 0.01 + rng.unit(),
                              .loss = rng.chance(0.3) ? 0.0 : 0.3 * rng.unit(),
                              .skew = 0.02 * rng.unit()};
        const int candidates = 2 + static_cast<int>(rng.below(4));
        ElectionWorld world(seed, candidates, trouble);
        double led = 0;
        constexpr double kTick = 0.05;
        constexpr double kLong = 120;
        double next_trouble = 5;
        for (double now = 0; now < kLong; now += kTick) {
            world.run(now);
            const std::vector<std::size_t> leaders = world.leaders();
            ASSERT_LE(leaders.size(), 1u) << "at " << now;
            if (!leaders.empty()) led += kTick;
            if (now < next_trouble || leaders.empty()) continue;
            // It is paused for a while: a stopped process, a machine that swaps.
            world.pause(leaders.front(), now + 10 * rng.unit());
            next_trouble = now + 20;
        }
        EXPECT_GT(led, kLong / 4);
    }
}

TEST(Elections, ACrashIsFollowedWithinTheLeaseAndTwoRequests) {
    double longest = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        ElectionWorld world(seed, 2, {.latency = 0.02, .loss = 0, .skew = 0.001});
        double now = 1 + Rng(seed).unit() * 5;
        world.run(now);
        ASSERT_EQ(world.leaders().size(), 1u);
        world.kill(world.leaders().front());
        const double crash = now;
        while (world.leaders().empty() && now < crash + 10) world.run(now += 0.01);
        longest = std::max(longest, now - crash);
    }
    EXPECT_LT(longest, 4.1);
}

}  // namespace
}  // namespace muster::kube::lease_election_test
