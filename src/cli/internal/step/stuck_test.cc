#include "cli/internal/step/stuck.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace muster::cli::stuck_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

PodView pod(std::string name) {
    PodView made;
    made.uid = name;
    made.name = std::move(name);
    made.scheduled = true;
    ContainerView container;
    container.name = "pytorch";
    container.running = true;
    made.containers.push_back(std::move(container));
    return made;
}
PodView waiting_pod(std::string name, std::string reason, std::string message = {}) {
    PodView made = pod(std::move(name));
    made.containers[0].running = false;
    made.containers[0].waiting_reason = std::move(reason);
    made.containers[0].waiting_message = std::move(message);
    return made;
}

ConditionView condition(std::string type) {
    return {.type = std::move(type), .is_true = true, .reason = {}, .message = {}};
}

class StuckTest : public testing::Test {
  protected:
    StuckTest() { job.conditions.push_back(condition("Running")); }

    void add(PodView view) { pods.emplace(view.uid, std::move(view)); }
    std::optional<Wait> wait() const {
        return what_it_waits_for({.job = &job, .pods = pods, .wanted = 3, .job_warning = warning});
    }
    std::string told() const { return wait() ? tell_wait(*wait()) : ""; }

    JobView job;
    std::map<std::string, PodView> pods;
    std::string warning;
};

TEST_F(StuckTest, WhatIsToldNamesTheReasonAndTheAmount) {
    struct Case {
        PodView pod;
        const char* told;
    };
    PodView unscheduled = waiting_pod("a", "");
    unscheduled.scheduled = false;
    unscheduled.not_scheduled = "Unschedulable: 0/4 nodes: 4 Insufficient nvidia.com/gpu";
    PodView crashing = waiting_pod("a", "CrashLoopBackOff", "back-off 40s");
    crashing.containers[0].restarts = 4;
    crashing.containers[0].last_terminated.emplace().exit_code = 3;
    const Case cases[] = {
        {unscheduled,
         "1 of 3 pods have no node: Unschedulable: 0/4 nodes: 4 Insufficient nvidia.com/gpu"},
        {waiting_pod("a", "ErrImagePull", "not found"),
         "1 of 3 pods have no image: ErrImagePull: not found"},
        {waiting_pod("a", "ImagePullBackOff"), "1 of 3 pods have no image: ImagePullBackOff"},
        {waiting_pod("a", "CreateContainerConfigError", "secret \"s\" not found"),
         "1 of 3 pods have no container: CreateContainerConfigError: secret \"s\" not found"},
        {crashing,
         "1 of 3 pods fail again and again: its container pytorch exited with code 3, 4 restarts"},
    };
    for (const Case& one : cases) {
        pods.clear();
        add(pod("x"));
        add(pod("y"));
        add(one.pod);
        EXPECT_EQ(told(), one.told);
    }
}

TEST_F(StuckTest, AQuotaIsSeenInTheWarningAboutTheJob) {
    add(pod("a"));
    warning = "FailedCreatePod: pods \"j-worker-1\" is forbidden: exceeded quota: team";
    EXPECT_EQ(told(), "2 of 3 pods may not be made: " + warning);
    add(pod("b"));
    add(pod("c"));
    EXPECT_EQ(wait()->reason, WaitReason::kSilence) << "it was given in the end";
}

TEST_F(StuckTest, AJobThatNothingActsOnIsTold) {
    job.conditions.clear();
    EXPECT_THAT(told(), HasSubstr("no operator seems to run it"));
}

TEST_F(StuckTest, AQueueMayTakeItsTimeAndWhatHasEndedWaitsForNothing) {
    job.conditions.push_back(condition("Suspended"));
    EXPECT_EQ(wait(), std::nullopt);
    job.conditions.back().type = "Failed";
    add(waiting_pod("a", "ErrImagePull"));
    EXPECT_EQ(wait(), std::nullopt);
}

TEST_F(StuckTest, APodThatStartsOrGoesIsNotStuck) {
    add(waiting_pod("a", "ContainerCreating"));
    PodView going = waiting_pod("b", "ErrImagePull");
    going.deleting = true;
    add(going);
    EXPECT_EQ(wait(), std::nullopt);
}

const Wait kImage = {WaitReason::kImage, 1, 3, "ErrImagePull"};
const Wait kSilent = {WaitReason::kSilence, 3, 3, ""};
constexpr Instant kBegin{std::chrono::hours(1)};

TEST(StuckClock, TellsAfterAWhileAndThenLessAndLessOften) {
    StuckClock clock({});
    std::vector<int> told;
    for (int second = 0; second <= 600; ++second) {
        const auto step = clock.observe(kBegin + second * 1s, kImage, {});
        EXPECT_FALSE(step.stuck);
        EXPECT_TRUE(step.wake_at > kBegin + second * 1s);
        if (step.tell) told.push_back(second);
    }
    EXPECT_EQ(told, (std::vector{30, 90, 210, 450}));
    EXPECT_EQ(clock.observe(kBegin + 960s, kImage, {}).tell,
              "waits for 16 min 0 s: 1 of 3 pods have no image: ErrImagePull");
}

TEST(StuckClock, AWaitInWhichNothingChangesHasItsLimit) {
    StuckClock clock({.stuck_after = 30min, .silent_after = {}});
    Instant now = kBegin;
    int told = 0;
    StuckClock::Step step = clock.observe(now, kImage, {});
    for (int looks = 0; looks < 20 && !step.stuck; ++looks) {
        ASSERT_TRUE(step.wake_at);
        now = *step.wake_at;
        step = clock.observe(now, kImage, {});
        if (step.tell && !step.stuck) ++told;
    }
    EXPECT_TRUE(step.stuck);
    EXPECT_EQ(now, kBegin + 30min);
    EXPECT_EQ(told, 5);
}

TEST(StuckClock, APauseBeforeARestartIsPartOfTheWait) {
    StuckClock clock({.stuck_after = 20min, .silent_after = {}});
    for (int restart = 0; restart < 4; ++restart) {
        const Instant at = kBegin + restart * 301s;
        EXPECT_FALSE(clock.observe(at, kImage, {}).stuck);
        EXPECT_FALSE(clock.observe(at + 300s, std::nullopt, {}).stuck);  // it runs for a moment
    }
    EXPECT_TRUE(clock.observe(kBegin + 4 * 301s, kImage, {}).stuck);
}

TEST(StuckClock, AReasonThatWasGoneForLongBeginsAgain) {
    StuckClock clock({.stuck_after = 5min, .silent_after = {}});
    clock.observe(kBegin, kImage, {});
    clock.observe(kBegin + 4min, std::nullopt, {});
    EXPECT_FALSE(clock.observe(kBegin + 6min, kImage, {}).stuck);
}

TEST(StuckClock, EndsAfterTheLimit) {
    StuckClock clock({.stuck_after = 5min, .silent_after = {}});
    EXPECT_EQ(clock.observe(kBegin, kImage, {}).wake_at, kBegin + 30s);
    for (int second = 0; second < 300; second += 30)
        EXPECT_FALSE(clock.observe(kBegin + second * 1s, kImage, {}).stuck);
    const auto step = clock.observe(kBegin + 5min, kImage, {});
    EXPECT_TRUE(step.stuck);
    EXPECT_EQ(step.tell, "1 of 3 pods have no image: ErrImagePull for 5 min 0 s");
}

TEST(StuckClock, AReasonThatComesBackSoonHasLasted) {
    StuckClock clock({.stuck_after = 5min, .silent_after = {}});
    for (int second = 0; second < 300; second += 20) {
        const bool runs = second % 40 == 20;
        EXPECT_FALSE(
            clock.observe(kBegin + second * 1s, runs ? std::nullopt : std::optional(kImage), {})
                .stuck);
    }
    EXPECT_TRUE(clock.observe(kBegin + 5min, kImage, {}).stuck);
}

TEST(StuckClock, AReasonThatIsGoneIsForgotten) {
    StuckClock clock({.stuck_after = 5min, .silent_after = {}});
    clock.observe(kBegin, kImage, {});
    const auto gone = clock.observe(kBegin + 30s, std::nullopt, {});
    ASSERT_TRUE(gone.wake_at);
    clock.observe(*gone.wake_at, std::nullopt, {});
    EXPECT_FALSE(clock.observe(kBegin + 5min, kImage, {}).stuck);
}

TEST(StuckClock, SilenceIsMeasuredFromItsBeginningAlsoAfterAnotherReason) {
    StuckClock clock({.stuck_after = {}, .silent_after = 5s});
    clock.observe(kBegin, kImage, {});
    const auto step = clock.observe(kBegin + 1s, kSilent, {});
    EXPECT_FALSE(step.stuck);
    EXPECT_EQ(step.wake_at, kBegin + 6s);
    EXPECT_TRUE(clock.observe(kBegin + 6s, kSilent, {}).stuck);
}

TEST(StuckClock, SilenceIsMeasuredFromTheLastLine) {
    StuckClock clock({.stuck_after = 1min, .silent_after = 20min});
    EXPECT_EQ(clock.observe(kBegin, kSilent, {}).tell, std::nullopt);
    EXPECT_EQ(clock.observe(kBegin + 9min, kSilent, kBegin + 5min).tell, std::nullopt);
    EXPECT_EQ(clock.observe(kBegin + 15min, kSilent, kBegin + 5min).tell,
              "waits for 10 min 0 s: no pod has written a line");
    EXPECT_FALSE(clock.observe(kBegin + 24min, kSilent, kBegin + 5min).stuck);
    EXPECT_TRUE(clock.observe(kBegin + 25min, kSilent, kBegin + 5min).stuck);
}

}  // namespace
}  // namespace muster::cli::stuck_test
