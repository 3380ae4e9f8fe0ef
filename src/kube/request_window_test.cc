#include "kube/request_window.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace muster::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kStart{seconds(1000)};

/// All that may be sent now, in order.
std::vector<RequestWindow::Id> sent(RequestWindow& window, Instant now) {
    std::vector<RequestWindow::Id> all;
    while (auto id = window.next(now)) all.push_back(*id);
    return all;
}

void add(RequestWindow& window, const std::string& flow, RequestWindow::Id first, int count) {
    for (int i = 0; i < count; ++i) window.add(flow, first + static_cast<RequestWindow::Id>(i));
}

/// Answers a whole window, with more waiting behind it.
void answer_round(RequestWindow& window, Duration took, Instant now) {
    for (int left = window.size(); left > 0; --left) {
        add(window, "a", 1'000'000, 2);
        (void)sent(window, now);
        window.ended(RequestEnd::kAnswered, took, now);
    }
}

TEST(RequestWindowTest, AWindowIsSentAndTheRestWaits) {
    RequestWindow window;
    add(window, "a", 0, 40);
    EXPECT_EQ(sent(window, kStart).size(), std::size_t{RequestWindow::kFirst});
    EXPECT_EQ(window.waiting(), 8u);
    EXPECT_EQ(window.wake_at(), Instant::max());
    window.ended(RequestEnd::kAnswered, milliseconds(5), kStart);
    EXPECT_EQ(sent(window, kStart), std::vector<RequestWindow::Id>{32});
}

TEST(RequestWindowTest, FlowsTakeTurns) {
    RequestWindow window;
    add(window, "big", 0, 1000);
    (void)sent(window, kStart);
    add(window, "small", 5000, 2);
    add(window, "other", 6000, 1);
    std::vector<RequestWindow::Id> next;
    for (int i = 0; i < 6; ++i) {
        window.ended(RequestEnd::kAnswered, milliseconds(5), kStart);
        const auto one = window.next(kStart);
        ASSERT_TRUE(one);
        next.push_back(*one);
    }
    EXPECT_EQ(next, (std::vector<RequestWindow::Id>{32, 5000, 6000, 33, 5001, 34}));
}

TEST(RequestWindowTest, OneThatIsWithdrawnIsNotSent) {
    RequestWindow window;
    add(window, "a", 0, 3);
    EXPECT_TRUE(window.withdraw("a", 1));
    EXPECT_FALSE(window.withdraw("a", 1));
    EXPECT_FALSE(window.withdraw("b", 1));
    EXPECT_EQ(sent(window, kStart), (std::vector<RequestWindow::Id>{0, 2}));
    EXPECT_FALSE(window.withdraw("a", 2));
    EXPECT_EQ(window.waiting(), 0u);
}

TEST(RequestWindowTest, GrowsWhileAnswersStayAsFastAndOnlyWhenItIsFull) {
    RequestWindow window;
    add(window, "a", 0, 200);
    (void)sent(window, kStart);
    answer_round(window, milliseconds(5), kStart);
    EXPECT_EQ(window.size(), RequestWindow::kFirst + 1);
    answer_round(window, milliseconds(20), kStart);
    EXPECT_EQ(window.size(), RequestWindow::kFirst + 1) << "slower answers: the server queues";
    answer_round(window, milliseconds(5), kStart);
    EXPECT_EQ(window.size(), RequestWindow::kFirst + 2);

    RequestWindow idle;
    for (int i = 0; i < 500; ++i) {
        add(idle, "a", 0, 1);
        (void)sent(idle, kStart);
        idle.ended(RequestEnd::kAnswered, milliseconds(5), kStart);
    }
    EXPECT_EQ(idle.size(), RequestWindow::kFirst) << "nothing ever waited";
}

TEST(RequestWindowTest, HalvesOnceForAllThatWereRefusedTogether) {
    RequestWindow window;
    add(window, "a", 0, 100);
    (void)sent(window, kStart);
    const Instant refused = kStart + milliseconds(10);
    for (int i = 0; i < 10; ++i)
        window.ended(RequestEnd::kTooMany, milliseconds(10), refused, refused + seconds(2));
    EXPECT_EQ(window.size(), RequestWindow::kFirst / 2);
    EXPECT_TRUE(sent(window, refused).empty());
    EXPECT_EQ(window.wake_at(), refused + seconds(2));
    for (int i = 0; i < 22; ++i) window.ended(RequestEnd::kAnswered, milliseconds(10), refused);
    EXPECT_EQ(sent(window, refused + seconds(2)).size(), std::size_t{RequestWindow::kFirst / 2});
}

TEST(RequestWindowTest, ALostAnswerHalvesAndOneThatWasGivenUpDoesNot) {
    RequestWindow window;
    add(window, "a", 0, 2);
    (void)sent(window, kStart);
    window.ended(RequestEnd::kGivenUp, seconds(1), kStart + seconds(1));
    EXPECT_EQ(window.size(), RequestWindow::kFirst);
    window.ended(RequestEnd::kLost, seconds(1), kStart + seconds(1));
    EXPECT_EQ(window.size(), RequestWindow::kFirst / 2);
    EXPECT_EQ(window.in_flight(), 0);
}

TEST(RequestWindowTest, NeverFallsBelowOne) {
    RequestWindow window;
    Instant now = kStart;
    for (int i = 0; i < 20; ++i) {
        add(window, "a", 0, 1);
        ASSERT_EQ(sent(window, now).size(), 1u);
        now += seconds(1);
        window.ended(RequestEnd::kLost, milliseconds(500), now);
    }
    EXPECT_EQ(window.size(), 1);
}

TEST(RequestWindowTest, ARateAndItsBurst) {
    RequestWindow window({.per_second = 10, .burst = 3});
    add(window, "a", 0, 10);
    EXPECT_EQ(sent(window, kStart).size(), 3u);
    EXPECT_EQ(window.wake_at(), kStart + milliseconds(100));
    EXPECT_TRUE(sent(window, kStart + milliseconds(99)).empty());
    EXPECT_EQ(sent(window, kStart + milliseconds(101)).size(), 1u);
    EXPECT_EQ(sent(window, kStart + seconds(60)).size(), 3u) << "no more than the burst is saved";
}

/// Whatever happens: what is added is sent once or withdrawn, and no more is in flight than the
/// window had when it was sent.
TEST(RequestWindowTest, NothingIsLostAndNothingIsSentTwice) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Rng rng(seed);
        RequestWindow window;
        Instant now = kStart;
        std::vector<int> state(400, 0);  // 0: not added, 1: waits, 2: in flight, 3: over
        std::vector<RequestWindow::Id> flying;
        const auto flow_of = [](RequestWindow::Id id) { return std::to_string(id % 7); };
        RequestWindow::Id next = 0;
        for (int step = 0; step < 3000; ++step) {
            now += milliseconds(rng.below(20));
            const auto what = rng.below(4);
            if (what == 0 && next < state.size()) {
                window.add(flow_of(next), next);
                state[next++] = 1;
            } else if (what == 1 && next > 0) {
                const RequestWindow::Id id = rng.below(next);
                EXPECT_EQ(window.withdraw(flow_of(id), id), state[id] == 1);
                if (state[id] == 1) state[id] = 3;
            } else if (!flying.empty()) {
                const std::size_t which = rng.below(flying.size());
                state[flying[which]] = 3;
                flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
                const auto how = rng.below(10);
                window.ended(how == 0   ? RequestEnd::kTooMany
                             : how == 1 ? RequestEnd::kLost
                             : how == 2 ? RequestEnd::kGivenUp
                                        : RequestEnd::kAnswered,
                             milliseconds(rng.below(50)), now, now + milliseconds(rng.below(100)));
            }
            while (auto id = window.next(now)) {
                ASSERT_EQ(state[*id], 1);
                state[*id] = 2;
                flying.push_back(*id);
                ASSERT_LE(window.in_flight(), window.size());
            }
            ASSERT_EQ(window.in_flight(), static_cast<int>(flying.size()));
        }
        // Nobody starves: with answers alone, all that waits is sent.
        now += seconds(1);
        while (window.waiting() > 0) {
            while (auto id = window.next(now)) flying.push_back(*id), state[*id] = 2;
            ASSERT_FALSE(flying.empty());
            flying.pop_back();
            window.ended(RequestEnd::kAnswered, milliseconds(1), now);
        }
        for (const int one : state) EXPECT_NE(one, 1);
    }
}

}  // namespace
}  // namespace muster::kube
