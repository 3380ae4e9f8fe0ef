#include "muster_run/hosting/takeover_turn.h"

#include <gtest/gtest.h>

namespace muster::run::takeover_turn_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};

TEST(TakeoverTurn, EndpointsTakeOverInTheirOrder) {
    struct Case {
        const char* what;
        std::vector<std::size_t> candidates;
        Duration silent;  ///< for so long no master has answered
        std::optional<std::size_t> turn;
    };
    const Case cases[] = {
        {"a node that may host none", {}, 1h, std::nullopt},
        {"the first endpoint's machine, at once", {0}, 0s, 0},
        {"the second, at once", {1}, 0s, std::nullopt},
        {"the second, before the first has had its time", {1}, 5s - 1ns, std::nullopt},
        {"the second, after it", {1}, 5s, 1},
        {"the third, in the second's time", {2}, 10s - 1ns, std::nullopt},
        {"the third, after it", {2}, 10s, 2},
        {"one with several endpoints, by the first of them", {1, 3}, 5s, 1},
        {"one that has also the first", {0, 2}, 0s, 0},
    };
    for (const Case& one : cases) {
        TakeoverTurn turn(one.candidates, 5s);
        if (one.silent > 0s) EXPECT_EQ(turn.no_master_answers(kStart), std::nullopt) << one.what;
        EXPECT_EQ(turn.no_master_answers(kStart + one.silent), one.turn) << one.what;
    }
}

TEST(TakeoverTurn, ASilenceCountsFromItsOwnBeginning) {
    TakeoverTurn turn({1}, 5s);
    EXPECT_EQ(turn.no_master_answers(kStart), std::nullopt);
    EXPECT_EQ(turn.no_master_answers(kStart + 4s), std::nullopt);
    turn.master_answers();
    EXPECT_EQ(turn.no_master_answers(kStart + 6s), std::nullopt) << "it answered meanwhile";
    EXPECT_EQ(turn.no_master_answers(kStart + 10s), std::nullopt);
    EXPECT_EQ(turn.no_master_answers(kStart + 11s), 1);
    EXPECT_EQ(turn.no_master_answers(kStart + 12s), 1) << "until it is hosted";
}

TEST(TakeoverTurn, NothingIsCountedWhileAMasterAnswers) {
    TakeoverTurn turn({1}, 5s);
    turn.master_answers();
    EXPECT_EQ(turn.no_master_answers(kStart + 1h), std::nullopt);
}

}  // namespace
}  // namespace muster::run::takeover_turn_test
