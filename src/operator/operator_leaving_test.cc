// Jobs that are deleted, and kinds that the server does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_fault.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_leaving_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class OperatorLeavingTest : public testing::Test {
  protected:
    OperatorLeavingTest() {
        world.start_operator();
        world.run_job({});
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.method == kube::Method::kDelete) deleted.push_back(request.path);
        };
    }
    void delete_job(kube::Propagation propagation) {
        kube::DeleteOptions options;
        options.propagation = propagation;
        ASSERT_TRUE(
            world.wait(world.client.remove(pytorch().resource, "default", "demo", options)));
    }

    World world{1, {.namespace_ = {}, .removes_dependents = true}};
    std::vector<std::string> deleted;
};

TEST_F(OperatorLeavingTest, ItsPodsAndServicesAreDeletedByUs) {
    delete_job(kube::Propagation::kBackground);
    world.settle();
    world.reap();
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty());
    EXPECT_THAT(world.services(), IsEmpty());
    EXPECT_THAT(deleted, Contains(HasSubstr("pods/demo-worker-1")));
}

TEST_F(OperatorLeavingTest, WhatIsOrphanedStays) {
    delete_job(kube::Propagation::kOrphan);
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3));
    EXPECT_THAT(deleted, IsEmpty());
}

TEST_F(OperatorLeavingTest, AForegroundDeletionIsHelpedAlong) {
    delete_job(kube::Propagation::kForeground);
    world.settle();
    world.reap();
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty());
    EXPECT_FALSE(world.object(pytorch().resource, "demo"));
}

TEST_F(OperatorLeavingTest, TheSearchForWhatDeletedJobsLeftIsRepeatedAfterAFault) {
    const TaskFault fault("leftovers of deleted jobs");
    world.stop_operator();
    world.start_operator();
    world.settle();
    EXPECT_EQ(fault.hits(), 1u);
    world.run_for(std::chrono::seconds(1));
    EXPECT_EQ(fault.hits(), 2u);
}

}  // namespace
}  // namespace muster::operators::operator_leaving_test
