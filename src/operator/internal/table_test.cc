#include "operator/internal/table.h"

#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

namespace muster::operators {
namespace {

using namespace std::chrono_literals;

const JobUid kJobUid("job-uid");
const jobs::ReplicaId kWorker0{"Worker", 0};
constexpr Instant kNow{};

class TableTest : public ::testing::Test {
  protected:
    const Dependents& of_job() const { return table.of(kJobUid); }

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
    ASSERT_EQ(of_job().slots.size(), 2u);
    EXPECT_EQ(of_job().slots.at({"Master", 0}).pods.front(), master);
    EXPECT_EQ(of_job().slots.at({"Master", 0}).service, nullptr);
    EXPECT_EQ(of_job().slots.at(kWorker0).pods.front(), running);
    EXPECT_EQ(of_job().slots.at(kWorker0).service, service);
}

TEST_F(TableTest, AChangeReplacesAndARemovalEmpties) {
    table.apply(nullptr, &running);
    PodPtr done = make_pod({.phase = PodPhase::kSucceeded});
    table.apply(&running, &done);
    ASSERT_EQ(of_job().slots.at(kWorker0).pods.size(), 1u);
    EXPECT_EQ(of_job().slots.at(kWorker0).pods.front(), done);
    table.apply(&done, nullptr);
    EXPECT_TRUE(of_job().slots.empty());
}

TEST_F(TableTest, TwoPodsOfOneReplicaAreBothKept) {
    PodPtr other = make_pod({.uid = "other"});
    table.apply(nullptr, &running);
    table.apply(nullptr, &other);
    EXPECT_EQ(of_job().slots.at(kWorker0).pods.size(), 2u);
    table.apply(&running, nullptr);
    EXPECT_EQ(of_job().slots.at(kWorker0).pods.front(), other);
}

// Jobs that share names over time do not share pods.
TEST_F(TableTest, AnotherJobsPodsAreNotOurs) {
    table.apply(nullptr, &running);
    EXPECT_TRUE(table.of(JobUid("another-uid")).slots.empty());
}

TEST_F(TableTest, ACreateIsRememberedUntilItsPodShows) {
    table.pod_create_sent(kJobUid, kWorker0, kNow + 30s);
    table.service_create_sent(kJobUid, kWorker0, kNow + 30s);
    table.apply(nullptr, &running);
    EXPECT_FALSE(of_job().pods_being_created.contains(kWorker0));
    EXPECT_TRUE(of_job().services_being_created.contains(kWorker0));
    table.apply(nullptr, &service);
    EXPECT_FALSE(of_job().services_being_created.contains(kWorker0));
    EXPECT_EQ(table.expire(kJobUid, kNow), Instant::max());
}

TEST_F(TableTest, ACreateThatFailedOrNeverShowsIsForgotten) {
    table.pod_create_sent(kJobUid, kWorker0, kNow + 30s);
    table.pod_create_failed(kJobUid, kWorker0);
    EXPECT_TRUE(of_job().pods_being_created.empty());

    table.pod_create_sent(kJobUid, kWorker0, kNow + 30s);
    EXPECT_EQ(table.expire(kJobUid, kNow + 29s), kNow + 30s);
    EXPECT_FALSE(of_job().pods_being_created.empty());
    EXPECT_EQ(table.expire(kJobUid, kNow + 30s), Instant::max());
    EXPECT_TRUE(of_job().pods_being_created.empty());
}

TEST_F(TableTest, ADeletionIsRememberedUntilThePodShowsItOrIsGone) {
    table.apply(nullptr, &running);
    table.delete_sent(kJobUid, running->uid, kNow + 30s);
    EXPECT_TRUE(of_job().is_going(*running));
    // A late event that knows nothing of it yet.
    PodPtr late = make_pod({});
    table.apply(&running, &late);
    EXPECT_TRUE(of_job().is_going(*late));
    PodPtr terminating = make_pod({.deleting = true});
    table.apply(&late, &terminating);
    EXPECT_TRUE(of_job().being_deleted.empty());
    EXPECT_TRUE(of_job().is_going(*terminating));
}

}  // namespace
}  // namespace muster::operators
