#include "kube/transport/aimd_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "base/rng.h"
#include "base/test_seeds.h"

namespace muster::kube::aimd_window_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kStart{seconds(1000)};

/// All that may be sent now, in order.
std::vector<AimdWindow::Id> sent(AimdWindow& window, Instant now) {
    std::vector<AimdWindow::Id> all;
    while (auto id = window.next(now)) all.push_back(*id);
    return all;
}

void add(AimdWindow& window, const std::string& flow, AimdWindow::Id first, int count) {
    for (int i = 0; i < count; ++i) window.add(flow, first + static_cast<AimdWindow::Id>(i));
}

/// Answers a whole window, with more waiting behind it.
void answer_round(AimdWindow& window, Duration took, Instant now) {
    for (int left = window.size(); left > 0; --left) {
        add(window, "a", 1'000'000, 2);
        (void)sent(window, now);
        window.ended("a", RequestEnd::kAnswered, took, now);
    }
}

TEST(AimdWindowTest, AWindowIsSentAndTheRestWaits) {
    AimdWindow window;
    add(window, "a", 0, 40);
    EXPECT_EQ(sent(window, kStart).size(), std::size_t{AimdWindow::kFirst});
    EXPECT_EQ(window.waiting(), 8u);
    EXPECT_EQ(window.wake_at(), Instant::max());
    window.ended("a", RequestEnd::kAnswered, milliseconds(5), kStart);
    EXPECT_EQ(sent(window, kStart), std::vector<AimdWindow::Id>{32});
}

TEST(AimdWindowTest, FlowsTakeTurns) {
    AimdWindow window;
    add(window, "big", 0, 1000);
    (void)sent(window, kStart);
    add(window, "small", 5000, 2);
    add(window, "other", 6000, 1);
    std::vector<AimdWindow::Id> next;
    for (int i = 0; i < 6; ++i) {
        window.ended("big", RequestEnd::kAnswered, milliseconds(5), kStart);
        const auto one = window.next(kStart);
        ASSERT_TRUE(one);
        next.push_back(*one);
    }
    EXPECT_EQ(next, (std::vector<AimdWindow::Id>{32, 5000, 6000, 33, 5001, 34}));
}

/// What a server that answers in the order of arrival makes of it. Flows by id: each thousand is
/// one.
class LongFlows : public testing::Test {
  protected:
    using Ids = std::vector<AimdWindow::Id>;
    static constexpr AimdWindow::Id kBig = 1000, kHuge = 2000, kSmall = 5000, kOfNoJob = 9000;

    static std::string flow_of(AimdWindow::Id id) {
        return id / 1000 == kOfNoJob / 1000 ? std::string() : std::to_string(id / 1000);
    }
    void ask(AimdWindow::Id first, int count) { add(window_, flow_of(first), first, count); }
    /// Answers the `count` that have been on their way for longest, one by one; what goes then.
    Ids answer(int count) {
        Ids all = send();
        for (; count > 0; --count) {
            // Slower than the first round, so that the window does not grow any more.
            const Duration took = milliseconds(answered_++ < AimdWindow::kFirst ? 1 : 5);
            window_.ended(flow_of(flying_.front()), RequestEnd::kAnswered, took, kStart);
            flying_.pop_front();
            const Ids more = send();
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }
    void make_long(AimdWindow::Id first) {
        ask(first, 900);
        (void)answer(4 * AimdWindow::kLong);
    }
    int in_flight(AimdWindow::Id of) const {
        return static_cast<int>(std::ranges::count_if(
            flying_, [of](AimdWindow::Id id) { return flow_of(id) == flow_of(of); }));
    }
    int share() const { return window_.size() / AimdWindow::kLongShare; }

    AimdWindow window_;
    std::deque<AimdWindow::Id> flying_;

  private:
    int answered_ = 0;

    Ids send() {
        const Ids now = sent(window_, kStart);
        flying_.insert(flying_.end(), now.begin(), now.end());
        return now;
    }
};

TEST_F(LongFlows, LeaveTheServerToAShortOne) {
    make_long(kBig);
    ASSERT_EQ(in_flight(kBig), window_.size());
    ask(kSmall, 2);
    EXPECT_EQ(answer(2), (Ids{kSmall, kSmall + 1})) << "at once, one after the other";
    const int whole = window_.size();
    EXPECT_EQ(answer(whole - 2 - share()), Ids{}) << "down to the share of the long ones";
    ASSERT_EQ(in_flight(kBig), share());
    EXPECT_EQ(answer(3).size(), 3u) << "which they keep";
    (void)answer(share() - 3);
    ASSERT_EQ(in_flight(kSmall), 2);
    EXPECT_EQ(answer(1), Ids{}) << "one is still on its way";
    EXPECT_EQ(answer(1).size(), static_cast<std::size_t>(window_.size() - share()));
    EXPECT_EQ(in_flight(kBig), window_.size()) << "all again";
}

// The events of a large job are written one after the other while its pods are made.
TEST_F(LongFlows, AreNotHeldBackByWhatIsOfNoJob) {
    make_long(kBig);
    ask(kOfNoJob, 2);
    EXPECT_EQ(answer(4).size(), 4u);
    ASSERT_EQ(in_flight(kOfNoJob), 2) << "in their turn";
    EXPECT_EQ(in_flight(kBig), window_.size() - 2) << "and the long one has all the rest";
    (void)answer(window_.size());
    EXPECT_EQ(in_flight(kBig), window_.size());
    ask(kSmall, 1);
    EXPECT_EQ(answer(1), Ids{kSmall});
    (void)answer(window_.size() - 1);
    EXPECT_EQ(in_flight(kBig), share()) << "which a job does";
    (void)answer(1);
    EXPECT_EQ(in_flight(kBig), window_.size());
}

TEST_F(LongFlows, AreHeldBackForAShortOneWhateverElseThereIs) {
    make_long(kBig);
    ask(kOfNoJob, 2 * AimdWindow::kLong);
    ask(kSmall, 2);
    EXPECT_EQ(answer(4), (Ids{kOfNoJob, kSmall, kOfNoJob + 1, kSmall + 1}));
    for (const AimdWindow::Id id : answer(10)) EXPECT_EQ(flow_of(id), flow_of(kOfNoJob));
    (void)answer(6 * AimdWindow::kLong);
    ASSERT_EQ(in_flight(kBig), window_.size());
    ask(kSmall, 1);
    EXPECT_EQ(answer(1), Ids{kSmall});
    EXPECT_EQ(answer(1), Ids{}) << "those of no job that were long are forgotten";
}

TEST_F(LongFlows, HaveTheirTurnBesideShortOnesWithoutEnd) {
    make_long(kBig);
    for (AimdWindow::Id id = 5; id < 105; ++id) ask(id * 1000, 1);
    const Ids next = answer(window_.size());
    const auto is_big = [](AimdWindow::Id id) { return flow_of(id) == flow_of(kBig); };
    EXPECT_EQ(std::ranges::find_if(next, is_big) - next.begin(), window_.size() - share())
        << "the turn that it missed comes when less than the share is on its way";
    EXPECT_EQ(std::ranges::count_if(next, is_big), 1) << "and then its place is behind the others";
}

TEST_F(LongFlows, TakeTurnsForTheirShare) {
    make_long(kBig);
    make_long(kHuge);
    (void)answer(window_.size());
    EXPECT_NEAR(in_flight(kBig), in_flight(kHuge), 1) << "both are long and have all of it";
    for (AimdWindow::Id id = 5; id < 8; ++id) ask(id * 1000, 60);
    (void)answer(window_.size());
    (void)answer(window_.size());
    EXPECT_EQ(in_flight(kBig) + in_flight(kHuge), share());
    EXPECT_EQ(in_flight(kBig), share() / 2);
}

TEST_F(LongFlows, AreShortAgainAfterTheyWereIdle) {
    ask(kSmall, AimdWindow::kLong);
    (void)answer(AimdWindow::kLong);
    ASSERT_TRUE(flying_.empty());
    make_long(kBig);
    ask(kSmall, 1);
    EXPECT_EQ(answer(1), Ids{kSmall});
    EXPECT_EQ(answer(1), Ids{}) << "the long one is held back for it";
}

TEST_F(LongFlows, HaveTheirTurnInAWindowOfOne) {
    make_long(kBig);
    Instant now = kStart;
    while (window_.size() > 1) {
        now += seconds(1);
        window_.ended(flow_of(kBig), RequestEnd::kLost, milliseconds(1), now);
        flying_.pop_front();
    }
    ask(kSmall, 2);
    const Ids next = answer(static_cast<int>(flying_.size()) + 3);
    ASSERT_EQ(next.size(), 4u);
    EXPECT_EQ(std::ranges::count(next, kSmall), 1);
    EXPECT_EQ(std::ranges::count(next, kSmall + 1), 1);
}

TEST(AimdWindowTest, OneThatIsWithdrawnIsNotSent) {
    AimdWindow window;
    add(window, "a", 0, 3);
    EXPECT_TRUE(window.withdraw("a", 1));
    EXPECT_FALSE(window.withdraw("a", 1));
    EXPECT_FALSE(window.withdraw("b", 1));
    EXPECT_EQ(sent(window, kStart), (std::vector<AimdWindow::Id>{0, 2}));
    EXPECT_FALSE(window.withdraw("a", 2));
    EXPECT_EQ(window.waiting(), 0u);
}

TEST(AimdWindowTest, GrowsWhileAnswersStayAsFastAndOnlyWhenItIsFull) {
    AimdWindow window;
    add(window, "a", 0, 200);
    (void)sent(window, kStart);
    answer_round(window, milliseconds(5), kStart);
    EXPECT_EQ(window.size(), AimdWindow::kFirst + 1);
    answer_round(window, milliseconds(20), kStart);
    EXPECT_EQ(window.size(), AimdWindow::kFirst + 1) << "slower answers: the server queues";
    answer_round(window, milliseconds(5), kStart);
    EXPECT_EQ(window.size(), AimdWindow::kFirst + 2);

    AimdWindow idle;
    for (int i = 0; i < 500; ++i) {
        add(idle, "a", 0, 1);
        (void)sent(idle, kStart);
        idle.ended("a", RequestEnd::kAnswered, milliseconds(5), kStart);
    }
    EXPECT_EQ(idle.size(), AimdWindow::kFirst) << "nothing ever waited";
}

TEST(AimdWindowTest, HalvesOnceForAllThatWereRefusedTogether) {
    AimdWindow window;
    add(window, "a", 0, 100);
    (void)sent(window, kStart);
    const Instant refused = kStart + milliseconds(10);
    for (int i = 0; i < 10; ++i)
        window.ended("a", RequestEnd::kTooMany, milliseconds(10), refused, refused + seconds(2));
    EXPECT_EQ(window.size(), AimdWindow::kFirst / 2);
    EXPECT_TRUE(sent(window, refused).empty());
    EXPECT_EQ(window.wake_at(), refused + seconds(2));
    for (int i = 0; i < 22; ++i)
        window.ended("a", RequestEnd::kAnswered, milliseconds(10), refused);
    EXPECT_EQ(sent(window, refused + seconds(2)).size(), std::size_t{AimdWindow::kFirst / 2});
}

TEST(AimdWindowTest, ALostAnswerHalvesAndOneThatWasGivenUpDoesNot) {
    AimdWindow window;
    add(window, "a", 0, 2);
    (void)sent(window, kStart);
    window.ended("a", RequestEnd::kGivenUp, seconds(1), kStart + seconds(1));
    EXPECT_EQ(window.size(), AimdWindow::kFirst);
    window.ended("a", RequestEnd::kLost, seconds(1), kStart + seconds(1));
    EXPECT_EQ(window.size(), AimdWindow::kFirst / 2);
    EXPECT_EQ(window.in_flight(), 0);
}

TEST(AimdWindowTest, NeverFallsBelowOne) {
    AimdWindow window;
    Instant now = kStart;
    for (int i = 0; i < 20; ++i) {
        add(window, "a", 0, 1);
        ASSERT_EQ(sent(window, now).size(), 1u);
        now += seconds(1);
        window.ended("a", RequestEnd::kLost, milliseconds(500), now);
    }
    EXPECT_EQ(window.size(), 1);
}

TEST(AimdWindowTest, ARateAndItsBurst) {
    AimdWindow window({.per_second = 10, .burst = 3});
    add(window, "a", 0, 10);
    EXPECT_EQ(sent(window, kStart).size(), 3u);
    EXPECT_EQ(window.wake_at(), kStart + milliseconds(100));
    EXPECT_TRUE(sent(window, kStart + milliseconds(99)).empty());
    EXPECT_EQ(sent(window, kStart + milliseconds(101)).size(), 1u);
    EXPECT_EQ(sent(window, kStart + seconds(60)).size(), 3u) << "no more than the burst is saved";
}

/// Whatever happens: what is added is sent once or withdrawn, and no more is in flight than the
/// window had when it was sent, nor of the long flows than their share beside a short one.
TEST(AimdWindowTest, NothingIsLostAndNothingIsSentTwice) {
    int held = 0;
    for (const std::uint64_t seed : seeds_of_this_run(60, 5)) {
        Rng rng(seed);
        AimdWindow window;
        Instant now = kStart;
        std::vector<int> state(1000, 0);  // 0: not added, 1: waits, 2: in flight, 3: over
        std::vector<AimdWindow::Id> flying;
        std::map<std::string, int> sent_since_idle;
        // Large ones, and some that are idle now and then.
        const auto flow_of = [](AimdWindow::Id id) -> std::string {
            if (id % 16 == 0) return id % 7 == 0 ? std::string() : std::to_string(id % 7);
            return std::string(id % 2 == 1 ? "big" : "other");
        };
        const auto is_busy = [&](const std::string& flow) {
            for (AimdWindow::Id id = 0; id < state.size(); ++id)
                if ((state[id] == 1 || state[id] == 2) && flow_of(id) == flow) return true;
            return false;
        };
        const auto over = [&](AimdWindow::Id id) {
            state[id] = 3;
            if (!is_busy(flow_of(id))) sent_since_idle.erase(flow_of(id));
        };
        const auto check = [&](AimdWindow::Id id) {
            ASSERT_EQ(state[id], 1);
            const auto is_long = [&](const std::string& flow) {
                return sent_since_idle[flow] >= AimdWindow::kLong;
            };
            if (is_long(flow_of(id))) {
                int of_long = 0;
                bool beside_short = false;
                for (const auto other : flying) of_long += is_long(flow_of(other)) ? 1 : 0;
                for (AimdWindow::Id other = 0; other < state.size(); ++other)
                    if (state[other] == 1 || state[other] == 2)
                        beside_short =
                            beside_short || (!flow_of(other).empty() && !is_long(flow_of(other)));
                if (beside_short) {
                    ++held;
                    ASSERT_LT(of_long, std::max(1, window.size() / AimdWindow::kLongShare));
                }
            }
            state[id] = 2;
            ++sent_since_idle[flow_of(id)];
            flying.push_back(id);
            ASSERT_LE(window.in_flight(), window.size());
        };
        AimdWindow::Id next = 0;
        for (int step = 0; step < 1500; ++step) {
            now += milliseconds(rng.below(20));
            const auto what = rng.below(8);
            if (what == 0) {
                for (auto many = rng.below(20); many > 0 && next < state.size(); --many) {
                    window.add(flow_of(next), next);
                    state[next++] = 1;
                }
            } else if (what == 1 && next > 0) {
                const AimdWindow::Id id = rng.below(next);
                EXPECT_EQ(window.withdraw(flow_of(id), id), state[id] == 1);
                if (state[id] == 1) over(id);
            } else if (!flying.empty()) {
                const std::size_t which = rng.below(flying.size());
                const AimdWindow::Id id = flying[which];
                flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
                over(id);
                const auto how = rng.below(30);
                window.ended(flow_of(id),
                             how == 0   ? RequestEnd::kTooMany
                             : how == 1 ? RequestEnd::kLost
                             : how == 2 ? RequestEnd::kGivenUp
                                        : RequestEnd::kAnswered,
                             milliseconds(rng.below(50)), now, now + milliseconds(rng.below(100)));
            }
            while (auto id = window.next(now)) ASSERT_NO_FATAL_FAILURE(check(*id));
            ASSERT_EQ(window.in_flight(), static_cast<int>(flying.size()));
        }
        // Nothing starves: with answers alone, everything that waits is sent.
        now += seconds(1);
        while (window.waiting() > 0) {
            while (auto id = window.next(now)) ASSERT_NO_FATAL_FAILURE(check(*id));
            ASSERT_FALSE(flying.empty());
            const AimdWindow::Id id = flying.back();
            flying.pop_back();
            over(id);
            window.ended(flow_of(id), RequestEnd::kAnswered, milliseconds(1), now);
        }
        EXPECT_EQ(std::ranges::count(state, 1), 0);
    }
    EXPECT_GT(held, 200);
}

}  // namespace
}  // namespace muster::kube::aimd_window_test
