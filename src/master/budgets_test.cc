#include "master/budgets.h"

#include <gtest/gtest.h>

namespace muster::master {
namespace {

using namespace std::chrono_literals;

const WallTime kStart = WallTime() + 1000h;

Budgets three_kinds() {
    return Budgets(
        {Budget{}, Budget{.incidents = 2}, Budget{.incidents = 1, .window = 1h}, Budget{}});
}

TEST(Budgets, AreSpentEachByItself) {
    Budgets budgets = three_kinds();
    EXPECT_TRUE(budgets.spend(Charge::kWorker, kStart));
    EXPECT_TRUE(budgets.spend(Charge::kMemory, kStart));
    EXPECT_TRUE(budgets.spend(Charge::kWorker, kStart + 1000h));
    EXPECT_FALSE(budgets.spend(Charge::kWorker, kStart + 2000h)) << "no window: for ever";
    EXPECT_EQ(budgets.spent(Charge::kWorker, kStart + 2000h), 2)
        << "what is refused is not charged";
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(budgets.spend(Charge::kNode, kStart)) << "no limit";
}

TEST(Budgets, AWindowForgets) {
    Budgets budgets = three_kinds();
    EXPECT_TRUE(budgets.spend(Charge::kMemory, kStart));
    EXPECT_FALSE(budgets.spend(Charge::kMemory, kStart + 1h - 1ns));
    EXPECT_TRUE(budgets.spend(Charge::kMemory, kStart + 1h));
    EXPECT_FALSE(budgets.spend(Charge::kMemory, kStart + 1h + 1ns));
}

TEST(Budgets, NothingIsFree) {
    Budgets budgets({Budget{.incidents = 0}, Budget{.incidents = 0}, Budget{}, Budget{}});
    EXPECT_TRUE(budgets.spend(Charge::kNothing, kStart));
    EXPECT_FALSE(budgets.spend(Charge::kWorker, kStart)) << "--max-restarts 0";
}

TEST(Budgets, AreRememberedByTheNextMaster) {
    Budgets budgets = three_kinds();
    budgets.remember(Charge::kWorker, kStart);
    budgets.remember(Charge::kWorker, kStart);
    EXPECT_FALSE(budgets.spend(Charge::kWorker, kStart));
}

}  // namespace
}  // namespace muster::master
