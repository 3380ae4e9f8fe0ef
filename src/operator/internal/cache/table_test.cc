#include "operator/internal/cache/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

namespace muster::operators::table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const JobUid kJobUid("job-uid");
constexpr SlotId kWorker0{1, 0};

class TableTest : public ::testing::Test {
  protected:
    const Slot* worker() { return table.of(kJobUid).at(kWorker0); }

    Table table;
    PodPtr running = make_pod({});
    ServicePtr service = make_service("Worker", 0);
};

// training-operator TestFilterPodsForReplicaType and TestFilterServicesForReplicaType.
TEST_F(TableTest, TestFilterPodsForReplicaType) {
    PodPtr master = make_pod({.type = "Master"});
    table.apply(nullptr, &running);
    table.apply(nullptr, &master);
    table.apply(nullptr, &service);
    EXPECT_EQ(table.of(kJobUid).at({0, 0})->pod, master);
    EXPECT_EQ(table.of(kJobUid).at({0, 0})->service, nullptr);
    EXPECT_EQ(worker()->pod, running);
    EXPECT_EQ(worker()->service, service);
}

// Jobs that share names over time do not share pods.
TEST_F(TableTest, AnotherJobsPodsAreNotOurs) {
    table.apply(nullptr, &running);
    EXPECT_FALSE(table.of(JobUid("another-uid")).has_objects());
}

TEST_F(TableTest, WhatNobodyControlsWaitsUnderTheNameOfItsJob) {
    auto made = std::make_shared<PodRecord>(*running);
    made->owner.uid = JobUid();
    const PodPtr orphan = made;
    table.apply(nullptr, &orphan);
    EXPECT_THAT(table.orphans_of("PyTorchJob/default/demo").pods, ElementsAre(orphan));
    EXPECT_THAT(table.orphans_of("PyTorchJob/default/other").pods, IsEmpty());

    table.apply(&orphan, &running);
    EXPECT_TRUE(table.orphans_of("PyTorchJob/default/demo").empty());
    EXPECT_EQ(worker()->pod, running);

    table.apply(&running, &orphan);
    EXPECT_FALSE(table.of(kJobUid).has_objects()) << "released";
}

TEST_F(TableTest, WhatOutlivesItsJobIsKeptUntilItIsGone) {
    table.apply(nullptr, &running);
    table.forget(kJobUid);
    EXPECT_TRUE(table.of(kJobUid).has_objects());
    table.apply(&running, nullptr);
    EXPECT_FALSE(table.of(kJobUid).has_objects());
}

}  // namespace
}  // namespace muster::operators::table_test
