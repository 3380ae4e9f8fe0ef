#include "operator/internal/cache/packed_status.h"

#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

namespace muster::operators {
namespace {

TEST(PackedStatus, ComesOutAsItWentIn) {
    jobs::JobStatus status = status_after(make_job({}), make_dependents(kAllRunning));
    status.restart_generation = 3;
    status.replica_statuses["Worker"].restarts = 4;
    status.replica_statuses["Worker"].completed_indexes = "0-2,5";
    const jobs::JobStatus back = PackedStatus(status).unpack();
    EXPECT_EQ(back.conditions, status.conditions);
    EXPECT_EQ(back.replica_statuses, status.replica_statuses);
    EXPECT_EQ(back.start_time, status.start_time);
    EXPECT_EQ(back.completion_time, status.completion_time);
    EXPECT_EQ(back.restart_generation, 3);
}

TEST(PackedStatus, NothingStaysNothing) {
    for (const PackedStatus& packed : {PackedStatus(), PackedStatus(jobs::JobStatus())}) {
        EXPECT_TRUE(packed.unpack().conditions.empty());
        EXPECT_TRUE(packed.unpack().start_time.empty());
    }
}

}  // namespace
}  // namespace muster::operators
