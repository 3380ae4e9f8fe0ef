#include "sim/internal/job_times.h"

#include <gtest/gtest.h>

#include <memory>

namespace muster::sim::job_times_test {
namespace {

using namespace std::chrono_literals;

const store::StoreKey kJob{"pytorchjobs.kubeflow.org", "default", "a"};

std::shared_ptr<const json::value> job_in(const char* state) {
    return std::make_shared<const json::value>(json::object{
        {"status", json::object{{"conditions", json::array{json::object{{"type", state},
                                                                        {"status", "True"}}}}}}});
}

struct JobTimesTest : ::testing::Test {
    /// `state` "": it is removed.
    void change(Duration at, const char* state) {
        store::StoreChange change;
        change.key = kJob;
        change.previous = before;
        change.object = *state == '\0' ? nullptr : job_in(state);
        before = change.object;
        times.change(Instant(at), change);
    }

    JobTimes times;
    std::shared_ptr<const json::value> before;
};

TEST_F(JobTimesTest, AJobLastsFromItsMakingToItsFirstEnd) {
    change(1s, "Created");
    EXPECT_EQ(times.of(kJob), std::nullopt);
    change(2s, "Running");
    EXPECT_EQ(times.of(kJob), std::nullopt);
    change(3s + 4ms, "Succeeded");
    EXPECT_EQ(times.of(kJob), 2s + 4ms);
    change(9s, "Succeeded");
    EXPECT_EQ(times.of(kJob), 2s + 4ms);
    change(10s, "");
    EXPECT_EQ(times.of(kJob), 2s + 4ms);
}

TEST_F(JobTimesTest, OneThatIsMadeAgainIsAnotherOne) {
    change(1s, "Failed");
    EXPECT_EQ(times.of(kJob), 0s);
    change(2s, "");
    change(5s, "Running");
    EXPECT_EQ(times.of(kJob), std::nullopt);
    change(7s, "Failed");
    EXPECT_EQ(times.of(kJob), 2s);
}

TEST_F(JobTimesTest, OtherKindsAreNotCounted) {
    store::StoreChange change;
    change.key = {"pods", "default", "a"};
    change.object = job_in("Failed");
    times.change(Instant(1s), change);
    EXPECT_EQ(times.of(change.key), std::nullopt);
    EXPECT_EQ(times.of(kJob), std::nullopt);
}

}  // namespace
}  // namespace muster::sim::job_times_test
