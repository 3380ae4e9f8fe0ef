#include "operator/internal/planning/limits.h"

#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::limits_test {
namespace {

using namespace std::chrono_literals;

struct BackoffRow {
    std::string name;
    std::optional<std::int32_t> limit;
    std::int32_t restarts;
    bool past;
};
class TestPastBackoffLimit : public ::testing::TestWithParam<BackoffRow> {};

// training-operator pkg/core/job_test.go has the rows that are named after it.
TEST_P(TestPastBackoffLimit, Decides) {
    EXPECT_EQ(past_backoff_limit(GetParam().limit, GetParam().restarts), GetParam().past);
}

INSTANTIATE_TEST_SUITE_P(Upstream, TestPastBackoffLimit,
                         ::testing::Values(BackoffRow{"UpstreamZeroAndNone", 0, 0, false},
                                           BackoffRow{"UpstreamThreeOfThree", 3, 3, true},
                                           BackoffRow{"ZeroAndOne", 0, 1, true},
                                           BackoffRow{"OneAndNone", 1, 0, false},
                                           BackoffRow{"OneAndOne", 1, 1, true},
                                           BackoffRow{"TwoOfThree", 3, 2, false},
                                           BackoffRow{"FourOfThree", 3, 4, true},
                                           BackoffRow{"NoLimit", std::nullopt, 1'000'000, false}),
                         [](const auto& info) { return info.param.name; });

JobFacts facts(const JobSketch& sketch) { return facts_of(make_job(sketch)); }

jobs::JobStatus begun() {
    jobs::JobStatus status;
    status.start_time = kube::format_time(kNow);
    return status;
}

// training-operator pkg/core/job_test.go: 0 s is past at once, 2 s just begun is not.
TEST(Limits, TestPastActiveDeadline) {
    EXPECT_EQ(deadline_of(facts({.deadline_seconds = 0}), begun()), kNow);
    EXPECT_EQ(deadline_of(facts({.deadline_seconds = 2}), begun()), kNow + 2s);
    EXPECT_EQ(deadline_of(facts({}), begun()), std::nullopt);
    EXPECT_EQ(deadline_of(facts({.deadline_seconds = 2}), {}), std::nullopt) << "not begun";
}

TEST(Limits, ADeadlineBeyondTheCalendarNeverComes) {
    const auto never =
        deadline_of(facts({.deadline_seconds = std::numeric_limits<std::int64_t>::max()}), begun());
    ASSERT_TRUE(never);
    EXPECT_GT(*never, kNow + std::chrono::years(100));
}

jobs::JobStatus ended(std::string_view type, std::string completion_time) {
    jobs::JobStatus status = begun();
    status.conditions.push_back({.type = std::string(type),
                                 .status = "True",
                                 .reason = "r",
                                 .message = "m",
                                 .last_update_time = kube::format_time(kNow + 7s),
                                 .last_transition_time = kube::format_time(kNow + 7s)});
    status.completion_time = std::move(completion_time);
    return status;
}

// training-operator pkg/util/train/train_util_test.go and the CleanupJob table of the TFJob tests.
TEST(Limits, TestDurationUntilExpireTime) {
    const JobFacts second = facts({.ttl_seconds = 1});
    const std::string now = kube::format_time(kNow);
    const jobs::JobStatus running = ended("Running", "");
    EXPECT_EQ(expiry_of(second, running), std::nullopt);
    for (const char* end : {"Succeeded", "Failed"}) {
        EXPECT_EQ(expiry_of(second, ended(end, now)), kNow + 1s) << end;
        EXPECT_EQ(expiry_of(facts({}), ended(end, now)), std::nullopt) << end;
        EXPECT_EQ(expiry_of(facts({.ttl_seconds = 0}), ended(end, now)), kNow) << end;
        EXPECT_EQ(expiry_of(facts({.suspend = true, .ttl_seconds = 1}), ended(end, now)),
                  std::nullopt)
            << end;
    }
}

// Upstream never deletes jobs that ended without it, and tries without end to compute their expiry.
TEST(Limits, WithoutACompletionTimeTheTtlCountsFromTheFinalCondition) {
    EXPECT_EQ(expiry_of(facts({.ttl_seconds = 1}), ended("Failed", "")), kNow + 8s);
}

TEST(Limits, OnlyALimitsEndIsOne) {
    const auto failed = [](std::string message) {
        jobs::JobStatus status = ended("Failed", "");
        status.conditions.back().message = std::move(message);
        return status;
    };
    EXPECT_TRUE(ended_by_limit(failed(backoff_message("demo")), "demo"));
    EXPECT_TRUE(ended_by_limit(failed(deadline_message("demo")), "demo"));
    EXPECT_FALSE(ended_by_limit(failed(deadline_message("other")), "demo"));
    EXPECT_FALSE(ended_by_limit(failed("PyTorchJob demo is failed"), "demo"));
    jobs::JobStatus running = ended("Running", "");
    running.conditions.back().message = backoff_message("demo");
    EXPECT_FALSE(ended_by_limit(running, "demo"));
}

struct PauseRow {
    std::string name;
    FormerObject pod;
    std::int32_t in_a_row;
    std::chrono::seconds length;
    std::optional<WallTime> end;
};
class PauseAfter : public ::testing::TestWithParam<PauseRow> {};

TEST_P(PauseAfter, TheLastPod) {
    const PauseRow& row = GetParam();
    const Pause pause = pause_after(row.pod, kNow);
    EXPECT_EQ(pause.in_a_row, row.in_a_row);
    EXPECT_EQ(pause.length, row.length);
    EXPECT_EQ(pause.end, row.end);
}

FormerObject former_pod(std::int32_t in_a_row, WallTime created, std::optional<WallTime> ended_at) {
    return {.in_a_row = in_a_row, .created = created, .ended_at = ended_at};
}

INSTANTIATE_TEST_SUITE_P(
    Each, PauseAfter,
    ::testing::Values(
        PauseRow{"TheFirst", former_pod(0, kNow - 5s, kNow), 1, 0s, std::nullopt},
        PauseRow{"TheSecond", former_pod(1, kNow - 5s, kNow - 1s), 2, 10s, kNow + 9s},
        PauseRow{"TheThird", former_pod(2, kNow - 5s, kNow), 3, 20s, kNow + 20s},
        PauseRow{"TheTenth", former_pod(9, kNow - 5s, kNow), 10, 300s, kNow + 300s},
        PauseRow{"TheFirstOfANodeWhoseClockIsAhead", former_pod(0, kNow, kNow + 3s), 1, 0s,
                 std::nullopt},
        PauseRow{"ItHasPassed", former_pod(1, kNow - 60s, kNow - 10s), 2, 10s, std::nullopt},
        PauseRow{"ItRanForLong", former_pod(9, kNow - 600s, kNow), 1, 0s, std::nullopt},
        PauseRow{"ItsEndIsUnknown", former_pod(1, kNow - 4s, std::nullopt), 2, 10s, kNow + 6s},
        PauseRow{"OfOneThatIsLongAgo", former_pod(9, kNow - 601s, std::nullopt), 1, 0s,
                 std::nullopt},
        PauseRow{"ANodesClockIsAhead", former_pod(1, kNow, kNow + 3s), 2, 10s, kNow + 13s},
        PauseRow{"TheClockWasSetBack", former_pod(1, kNow + 1h, kNow + 2h), 1, 0s, std::nullopt}),
    [](const auto& info) { return info.param.name; });

TEST(Limits, APauseEndsAndAClockThatGoesBackEndsItToo) {
    jobs::JobStatus status;
    EXPECT_EQ(restarts_in_a_row(status, kNow), 1);
    EXPECT_EQ(end_of_pause(status, kNow), std::nullopt);
    status.restarts_in_a_row = 1;
    status.last_restart_time = kube::format_time(kNow + 1s);
    EXPECT_EQ(end_of_pause(status, kNow), std::nullopt) << "there is none";
    status.restarts_in_a_row = 3;
    status.last_restart_time = kube::format_time(kNow);
    EXPECT_EQ(end_of_pause(status, kNow + 19s), kNow + 20s);
    EXPECT_EQ(end_of_pause(status, kNow + 20s), std::nullopt);
    EXPECT_EQ(end_of_pause(status, kNow - 1s), kNow + 20s) << "times are written a little ahead";
    EXPECT_EQ(end_of_pause(status, kNow - 301s), std::nullopt);
    EXPECT_EQ(restarts_in_a_row(status, kNow + 619s), 4);
    EXPECT_EQ(restarts_in_a_row(status, kNow + 620s), 1) << "10 minutes after the pause of 20 s";
    status.restarts_in_a_row = 20;
    EXPECT_EQ(restarts_in_a_row(status, kNow + 899s), 21);
    EXPECT_EQ(restarts_in_a_row(status, kNow + 900s), 1);
    EXPECT_EQ(pause_before_restart(1'000'000), 300s);
}

}  // namespace
}  // namespace muster::operators::limits_test
