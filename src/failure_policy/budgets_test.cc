#include "failure_policy/budgets.h"

#include <gtest/gtest.h>

namespace muster::failure_policy::budgets_test {
namespace {

using namespace std::chrono_literals;

const WallTime kStart = WallTime() + 1000h;

Budgets three_kinds() {
    return Budgets({job_protocol::Budget{}, job_protocol::Budget{.incidents = 2},
                    job_protocol::Budget{.incidents = 1, .window = 1h}, job_protocol::Budget{}});
}

TEST(Budgets, AreSpentEachByItself) {
    Budgets budgets = three_kinds();
    EXPECT_TRUE(budgets.spend(job_protocol::Charge::kWorker, kStart));
    EXPECT_TRUE(budgets.spend(job_protocol::Charge::kMemory, kStart));
    EXPECT_TRUE(budgets.spend(job_protocol::Charge::kWorker, kStart + 1000h));
    EXPECT_FALSE(budgets.spend(job_protocol::Charge::kWorker, kStart + 2000h))
        << "no window: forever";
    EXPECT_EQ(budgets.spent(job_protocol::Charge::kWorker, kStart + 2000h), 2)
        << "what is refused is not charged";
    for (int i = 0; i < 100; ++i)
        EXPECT_TRUE(budgets.spend(job_protocol::Charge::kNode, kStart)) << "no limit";
}

TEST(Budgets, AWindowForgets) {
    Budgets budgets = three_kinds();
    EXPECT_TRUE(budgets.spend(job_protocol::Charge::kMemory, kStart));
    EXPECT_FALSE(budgets.spend(job_protocol::Charge::kMemory, kStart + 1h - 1ns));
    EXPECT_TRUE(budgets.spend(job_protocol::Charge::kMemory, kStart + 1h));
    EXPECT_FALSE(budgets.spend(job_protocol::Charge::kMemory, kStart + 1h + 1ns));
}

TEST(Budgets, NothingIsFree) {
    Budgets budgets({job_protocol::Budget{.incidents = 0}, job_protocol::Budget{.incidents = 0},
                     job_protocol::Budget{}, job_protocol::Budget{}});
    EXPECT_TRUE(budgets.spend(job_protocol::Charge::kNothing, kStart));
    EXPECT_FALSE(budgets.spend(job_protocol::Charge::kWorker, kStart)) << "--max-restarts 0";
}

TEST(Budgets, AreRememberedByTheNextMaster) {
    Budgets budgets = three_kinds();
    budgets.remember(job_protocol::Charge::kWorker, kStart);
    budgets.remember(job_protocol::Charge::kWorker, kStart);
    EXPECT_FALSE(budgets.spend(job_protocol::Charge::kWorker, kStart));
}

}  // namespace
}  // namespace muster::failure_policy::budgets_test
