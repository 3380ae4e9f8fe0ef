#include "operator/observer/milestones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::operators::milestones_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

jobs::JobStatus status(std::initializer_list<const char*> conditions, int restarts = 0,
                       int generation = 0) {
    jobs::JobStatus made;
    for (const char* type : conditions) {
        jobs::JobCondition condition;
        condition.type = type;
        condition.status = "True";
        made.conditions.push_back(std::move(condition));
    }
    if (restarts > 0) made.replica_statuses["Worker"].restarts = restarts;
    if (generation > 0) made.restart_generation = generation;
    return made;
}

TEST(MilestonesTest, EachIsReachedOnce) {
    const auto none = status({});
    const auto created = status({"Created"});
    const auto running = status({"Created", "Running"});
    EXPECT_THAT(milestones(none, created), ElementsAre(Reached{Milestone::kCreated}));
    EXPECT_THAT(milestones(created, created), IsEmpty());
    EXPECT_THAT(milestones(created, running), ElementsAre(Reached{Milestone::kRunning}));
    EXPECT_THAT(milestones(running, status({"Created", "Succeeded"})),
                ElementsAre(Reached{Milestone::kSucceeded}));
    EXPECT_THAT(milestones(running, status({"Created", "Failed"})),
                ElementsAre(Reached{Milestone::kFailed}));
    EXPECT_THAT(milestones(none, status({"Created", "Running", "Succeeded"})),
                ElementsAre(Reached{Milestone::kCreated}, Reached{Milestone::kRunning},
                            Reached{Milestone::kSucceeded}));
}

TEST(MilestonesTest, RestartsAreCountedByWhatWasRestarted) {
    const auto before = status({"Running"}, 1, 0);
    EXPECT_THAT(milestones(before, status({"Running"}, 3, 0)),
                ElementsAre(Reached{Milestone::kRestarted, 2, RestartCause::kReplica}));
    EXPECT_THAT(milestones(before, status({"Restarting"}, 1, 1)),
                ElementsAre(Reached{Milestone::kRestarted, 1, RestartCause::kGroup}));
    // The failure that led to it is part of it.
    EXPECT_THAT(milestones(before, status({"Restarting"}, 2, 1)),
                ElementsAre(Reached{Milestone::kRestarted, 1, RestartCause::kGroup}));
    EXPECT_THAT(milestones(before, status({"Running"}, 0, 0)), IsEmpty());
}

}  // namespace
}  // namespace muster::operators::milestones_test
