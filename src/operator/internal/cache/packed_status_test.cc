#include "operator/internal/cache/packed_status.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "kube/objects/codec.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::packed_status_test {
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

TEST(PackedStatus, WhatItDoesNotKnowMayBeDeep) {
    std::string text = "1";
    for (int i = 0; i < 100; ++i) text = R"({"a":)" + text + "}";
    jobs::JobStatus status;
    std::vector<Cause> problems;
    kube::decode_into(json::parse(R"({"x":)" + text + "}", {}, {.max_depth = 200}), status,
                      "status", problems);
    ASSERT_TRUE(problems.empty());
    EXPECT_EQ(json::serialize(kube::encode(PackedStatus(status).unpack())),
              R"({"x":)" + text + "}");
}

TEST(PackedStatus, NothingStaysNothing) {
    for (const PackedStatus& packed : {PackedStatus(), PackedStatus(jobs::JobStatus())}) {
        EXPECT_TRUE(packed.unpack().conditions.empty());
        EXPECT_TRUE(packed.unpack().start_time.empty());
    }
}

}  // namespace
}  // namespace muster::operators::packed_status_test
